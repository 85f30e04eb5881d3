// SPDX-License-Identifier: GPL-2.0
/*
 * The accounts of users: they begin with a user's first VA space and end with the last.
 * What is counted there, its owner counts: va_space.c, gpu_pt.c,
 * remote.c, device_memory.c, client.c, job.c.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "limit.h"
#include "user.h"

void gpuemu_users_init(struct gpuemu_users *users)
{
	spin_lock_init(&users->lock);
	INIT_LIST_HEAD(&users->all);
}

static struct gpuemu_user *find_locked(struct gpuemu_users *users, kuid_t uid)
{
	struct gpuemu_user *user;

	list_for_each_entry(user, &users->all, of_users)
		if (uid_eq(user->uid, uid))
			return user;
	return NULL;
}

/*
 * The user whose account the current task has. In a user namespace this is the user that made it:
 * with subordinate ids (subuid(5)) an ordinary user is thousands of others there. Ids in a
 * namespace that root made are those that the administrator gave away.
 */
static kuid_t account_uid(void)
{
	const struct user_namespace *ns = current_user_ns();

	while (ns->level > 1)
		ns = ns->parent;
	return ns->level && !uid_eq(ns->owner, GLOBAL_ROOT_UID) ? ns->owner : current_uid();
}

/**
 * gpuemu_user_get() - the account of the current user, for one more VA space
 * @users: the device's
 * @limited: no more of them than a user may have
 *
 * -ENOSPC, -ENOMEM.
 */
struct gpuemu_user *gpuemu_user_get(struct gpuemu_users *users, bool limited)
{
	/* Nobody's memory cgroup: all of the user's share it, and there are few. */
	struct gpuemu_user *user, *new = kzalloc(sizeof(*new), GFP_KERNEL);

	if (!new)
		return ERR_PTR(-ENOMEM);
	new->users = users;
	new->uid = account_uid();
	INIT_LIST_HEAD(&new->turns);
	INIT_LIST_HEAD(&new->turn);
	spin_lock(&users->lock);
	user = find_locked(users, new->uid);
	if (!user) {
		user = new;
		new = NULL;
		list_add_tail(&user->of_users, &users->all);
	}
	if (limited && user->spaces >= gpuemu_limit_of_user(GPUEMU_SPACES_MAX))
		user = ERR_PTR(-ENOSPC);
	else
		user->spaces++;
	spin_unlock(&users->lock);
	kfree(new);
	return user;
}

void gpuemu_user_put(struct gpuemu_user *user)
{
	struct gpuemu_users *users = user->users;
	bool last;

	spin_lock(&users->lock);
	last = !--user->spaces;
	if (last)
		list_del(&user->of_users);
	spin_unlock(&users->lock);
	if (!last)
		return;
	WARN_ON_ONCE(user->tables || user->slots || user->device_frames ||
		     user->jobs || atomic64_read(&user->bytes) ||
		     !list_empty(&user->turns));
	kfree(user);
}
