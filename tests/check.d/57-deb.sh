# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# lane: vm
# timeout: 3600
# only: deb
#
# The Debian packages: make deb, what is in them, and their life on a bare Debian 12, fetched once
# with debootstrap. In a folder: installed with apt, used by an ordinary user, purged; DKMS builds the
# module there for the kernel of the headers that are installed here. In the VM: tests/deb/guest.sh.
# Takes root and the archive. tests/check.d/54-packaging.sh is the part that always runs.
. tests/lib/tap.sh

work=$PWD/build/check/deb
base=$work/base root=$work/root
packages='gpuemu-dkms gpuemu libgpuemu0 libgpuemu-dev'
finish() { tap_done; exit; }

# --- built ------------------------------------------------------------------------------
scripts/deps.sh kernels deb || { tap_not_ok 'debootstrap and debhelper are installed'; finish; }
before=$(git status --porcelain debian)
tap_check 'make deb' make deb
for p in $packages; do
	deb=$(echo build/deb/"${p}"_*.deb)
	[ -e "$deb" ] || { tap_not_ok "there is a $p"; finish; }
done
tap_check 'debian/ is as it was' test "$before" = "$(git status --porcelain debian)"
tap_check 'debhelper has nothing to say' sh -c '! grep -E "^dh_[a-z]+: (warning|error)" build/deb/build.log'

# --- what is in them ----------------------------------------------------------------------
kver=$(find /usr/src -maxdepth 1 -name 'linux-headers-6.1*-amd64' | sed 's/.*linux-headers-//' | sort -V | tail -n 1)
multi=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
lists=$work/lists
mkdir -p "$lists"
for p in $packages; do
	dpkg-deb -c build/deb/"${p}"_*.deb | awk '{ print $1, $2, $6 }' >"$lists/$p"
done
has() { # PACKAGE MODE FILE
	tap_check "$1 has $3" grep -qx -e "$2 root/root \./$3" "$lists/$1"
}
plain='-rw-r--r--' program='-rwxr-xr-x'
has gpuemu-dkms "$plain" 'usr/src/gpuemu-[0-9.]*/dkms.conf'
has gpuemu-dkms "$plain" 'lib/udev/rules.d/60-gpuemu.rules'
has gpuemu-dkms "$plain" 'etc/modprobe.d/gpuemu.conf'
has gpuemu-dkms "$plain" 'usr/lib/modules-load.d/gpuemu.conf'
has gpuemu-dkms "$plain" 'usr/share/man/man4/gpuemu.4.gz'
has gpuemu "$program" usr/bin/gpuemu
has gpuemu "$program" usr/sbin/gpuemud
has gpuemu "$plain" lib/systemd/system/gpuemud.service
has gpuemu "$plain" etc/default/gpuemud
has gpuemu "$plain" usr/share/man/man8/gpuemud.8.gz
has libgpuemu0 "$plain" "usr/lib/$multi/libgpuemu.so.0"
has libgpuemu0 "$plain" "usr/lib/$multi/gpuemu/libcudart.so.12"
has libgpuemu-dev "$plain" usr/include/gpuemu.h
has libgpuemu-dev "$plain" "usr/lib/$multi/libgpuemu.a"
has libgpuemu-dev "$plain" "usr/lib/$multi/pkgconfig/gpuemu.pc"
for p in $packages; do
	has "$p" "$plain" "usr/share/doc/$p/copyright"
	tap_check "$p: all is root's, and nothing is writable by others or setuid" \
		sh -c "! awk '\$1 !~ /^l/ && (\$2 != \"root/root\" || \$1 ~ /^.{8}w|[sS]/)' '$lists/$p' | grep ."
	tap_check "$p: nothing below /usr/local, nothing of a build folder" sh -c "! grep -E '/usr/local/|/build/' '$lists/$p'"
done
for p in gpuemu libgpuemu0; do
	mkdir -p "$work/x/$p"
	dpkg-deb -x build/deb/"${p}"_*.deb "$work/x/$p"
	tap_check "$p names no folder of this machine" sh -c "! grep -rlF '$PWD' '$work/x/$p'"
done
rm -rf "$work/x"
tap_check 'gpuemu-dkms depends on dkms' sh -c "dpkg-deb -f build/deb/gpuemu-dkms_*.deb Depends | grep -qw dkms"
tap_check 'gpuemu asks for its own libgpuemu0' sh -c "dpkg-deb -f build/deb/gpuemu_*.deb Depends | grep -q 'libgpuemu0 (= '"
tap_check 'the unit is one that systemd reads' sh -c \
	'! command -v systemd-analyze || ! systemd-analyze verify --man=no debian/gpuemu.gpuemud.service 2>&1 | grep -v "is not executable"'

# --- a bare Debian ------------------------------------------------------------------------
if [ ! -e "$base/.complete" ]; then
	rm -rf "$base"
	debootstrap --variant=minbase --include=ca-certificates,dkms,kmod,libelf1,udev,systemd,systemd-sysv bookworm "$base" \
		http://deb.debian.org/debian >"$work/debootstrap.log" 2>&1 ||
		{ tap_not_ok 'debootstrap' "$(tail -n 5 "$work/debootstrap.log")"; finish; }
	# DKMS finds the headers of this machine; libelf1 is what they need.
	mkdir -p "$base/lib/modules/$kver" "$base/usr/src"
	cp -a /usr/src/linux-headers-"$kver" /usr/src/linux-headers-"${kver%-amd64}"-common "$base/usr/src/"
	cp -a /usr/lib/linux-kbuild-6.1 "$base/usr/lib/"
	ln -s /usr/src/linux-headers-"$kver" "$base/lib/modules/$kver/build"
	touch "$base/.complete"
fi
rm -rf "$root"
cp -a "$base" "$root"
cp build/deb/*.deb "$root/tmp/"
# Processes that are left over end with the command.
in_root() {
	unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" sh -c "$1"' "$root" "$1"
}
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
tap_check 'apt installs them' in_root \
	'apt-get update -qq && apt-get install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 /tmp/*.deb'
tap_check 'they are configured' in_root "test \$(dpkg-query -W -f '\${Status}\n' $packages | grep -c '^install ok installed\$') -eq 4"
tap_check 'no file of theirs is changed or missing' in_root "dpkg --verify $packages | grep . && exit 1 || exit 0"
tap_check "DKMS built the module for $kver" in_root \
	"dkms status -m gpuemu | grep -q '$kver.*: installed' && test -e /lib/modules/$kver/updates/dkms/gpuemu.ko"
tap_check 'modprobe finds it' in_root "modprobe -S $kver -n -v gpuemu | grep -q 'insmod .*/updates/dkms/gpuemu.ko'"
tap_check 'ldconfig finds libgpuemu' in_root "ldconfig -p | grep -q 'libgpuemu.so.0 .*/$multi/libgpuemu.so.0'"
tap_check 'the group is there' in_root 'getent group gpuemu'
tap_check 'the device starts the service' in_root \
	'test -L /etc/systemd/system/dev-gpuemu.device.wants/gpuemud.service && systemctl is-enabled -q gpuemud'
tap_check 'gpuemu list' in_root 'gpuemu list workloads | grep -q vecadd && gpuemu list configs | grep -q gtx480'
in_root 'useradd -m ada && usermod -aG gpuemu ada' || tap_not_ok 'an ordinary user is made'
tap_check 'an ordinary user runs vecadd' in_root \
	"su ada -c 'cd && gpuemu run vecadd --backend sim --json out.json' && grep -q far_faults /home/ada/out.json"
tap_check 'gpuemud without a device says so' in_root 'gpuemud 2>&1 | grep -q "/dev/gpuemu"'
tap_check 'a program links it' in_root 'echo "#include <gpuemu.h>
int main(void) { return !gpuemu_version(); }" >/tmp/a.c && gcc /tmp/a.c $(pkg-config --cflags --libs gpuemu) -o /tmp/a && /tmp/a'
tap_check 'installed again over itself' in_root 'apt-get install -qq -y --reinstall -o Dpkg::Use-Pty=0 /tmp/*.deb'
tap_check 'and still built' in_root "dkms status -m gpuemu | grep -q '$kver.*: installed'"

# --- booted -----------------------------------------------------------------------------------
# The folder is the initramfs, without what is needed for building alone. systemd is its first process.
scripts/deps.sh vm || tap_not_ok 'QEMU and a kernel are there'
make policies >"$work/policies.log" 2>&1 || tap_not_ok 'the policies build'
in_root 'useradd -m eve' || tap_not_ok 'another user is made'
install -m 755 tests/deb/guest.sh "$root/opt/guest.sh"
install -m 644 build/examples/policy/ahead.so "$root/opt/ahead.so"
cp "$root/etc/default/gpuemud" "$work/default"
sed -i 's|^GPUEMUD_ARGS=.*|GPUEMUD_ARGS="--log-level debug --policy /opt/ahead.so"|' "$root/etc/default/gpuemud"
cat >"$root/etc/systemd/system/guest.service" <<'EOF'
[Service]
Type=oneshot
ExecStart=/bin/sh -c '/opt/guest.sh >/dev/ttyS1 2>&1; systemctl poweroff -ff'
EOF
ln -sf ../guest.service "$root/etc/systemd/system/multi-user.target.wants/guest.service"
(cd "$root" && find . -xdev \( -path ./usr/src/linux-headers-\* -o -path ./usr/lib/gcc -o -path ./usr/lib/linux-kbuild-\* -o -path ./usr/share/doc \
	-o -path ./usr/share/man -o -path ./usr/share/locale -o -path ./usr/include -o -path './var/cache/apt/*' -o -path './var/lib/apt/*' \
	-o -path './tmp/*' -o -name '*.a' \) -prune -o -print | cpio -o -H newc --quiet) >"$work/vm.cpio"
kernel=build/vm/kernel/boot/vmlinuz-$kver
virt=$(tests/vm/virt.sh "$kernel")
: >"$work/vm.out"
problem=
timeout -k 5 900 qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -accel "${virt/tcg/tcg,thread=single}" \
	-cpu "$([ "$virt" = kvm ] && echo host || echo max)" -smp 1 -m 2560 -kernel "$kernel" -initrd "$work/vm.cpio" \
	-append 'console=ttyS0 quiet panic=-1 rdinit=/lib/systemd/systemd systemd.show_status=0 tsc=reliable clocksource=tsc' \
	-serial "file:$work/vm.console" -serial "file:$work/vm.out" </dev/null >"$work/vm.qemu" 2>&1 || problem="QEMU: status $?, see $work/vm.console"
tr -d '\r' <"$work/vm.out" >"$work/vm.tap"
tap_flatten 'in the VM' "$work/vm.tap" 0 "$problem"
rm -f "$work/vm.cpio"
cp "$work/default" "$root/etc/default/gpuemud"

# --- removed, purged ------------------------------------------------------------------------
tap_check 'removed: the administrator'"'"'s files and the group stay' in_root "apt-get remove -qq -y -o Dpkg::Use-Pty=0 $packages &&
	test -e /etc/default/gpuemud && test -e /etc/modprobe.d/gpuemu.conf && getent group gpuemu && test ! -e /usr/bin/gpuemu"
tap_check 'purged' in_root "apt-get purge -qq -y -o Dpkg::Use-Pty=0 $packages"
left=$(find "$root" -xdev -iname '*gpuemu*' ! -path "$root/tmp/*" -printf '/%P\n')
tap_check 'purged: no file is left' test -z "$left"
[ -z "$left" ] || echo "$left" | sed 's/^/# /'
tap_check 'purged: no group is left' in_root '! grep -q gpuemu /etc/group /etc/gshadow'
tap_check 'purged: DKMS knows nothing of it' in_root 'test -z "$(dkms status -m gpuemu)"'
rm -rf "$root"
finish
