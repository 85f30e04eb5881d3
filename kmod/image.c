// SPDX-License-Identifier: GPL-2.0
/*
 * PTX images: loaded by a client, read by the engine, opaque to the module.
 */
#include <linux/kref.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "client.h"
#include "cmd.h"
#include "engine.h"
#include "image.h"
#include "objects.h"

struct image {
	struct kref ref;
	u32 bytes;
	void *data;
};

static void image_free(struct kref *ref)
{
	struct image *image = container_of(ref, struct image, ref);

	kvfree(image->data);
	kfree(image);
	gpuemu_destroyed(images);
}

static void image_put(struct image *image)
{
	kref_put(&image->ref, image_free);
}

/* Takes over data. */
static int image_insert(struct gpuemu_client *client, struct image *image,
			u32 *id)
{
	int ret;

	mutex_lock(&client->lock);
	if (client->engine)
		ret = -EPERM;
	else if (client->nimages >= GPUEMU_CLIENT_MODULES)
		ret = -ENOSPC;
	else
		ret = xa_alloc_cyclic(&client->images, id, image,
				      XA_LIMIT(1, U32_MAX), &client->next_image,
				      GFP_KERNEL_ACCOUNT);
	if (ret >= 0)
		client->nimages++;
	mutex_unlock(&client->lock);
	return ret < 0 ? ret : 0;
}

int gpuemu_cmd_image_load(struct gpuemu_client *client,
			  struct gpuemu_module_load *arg)
{
	struct image *image;
	int ret;

	if (gpuemu_client_engine(client))
		return -EPERM;
	if (arg->flags)
		return -EOPNOTSUPP;
	if (!arg->image_bytes || arg->image_bytes > GPUEMU_MODULE_MAX)
		return -EINVAL;

	image = kzalloc(sizeof(*image), GFP_KERNEL_ACCOUNT);
	if (!image)
		return -ENOMEM;
	kref_init(&image->ref);
	gpuemu_created(images);
	image->bytes = arg->image_bytes;
	image->data = gpuemu_client_copy_in(client, arg->image, image->bytes, false);
	if (IS_ERR(image->data)) {
		ret = PTR_ERR(image->data);
		image->data = NULL;
		goto out_image;
	}
	ret = image_insert(client, image, &arg->id);
	if (ret)
		goto out_charge;
	return 0;

out_charge:
	gpuemu_client_uncharge(client, image->bytes);
out_image:
	image_put(image);
	return ret;
}

int gpuemu_cmd_image_unload(struct gpuemu_client *client,
			    struct gpuemu_module_unload *arg)
{
	struct image *image;

	if (gpuemu_client_engine(client))
		return -EPERM;
	mutex_lock(&client->lock);
	image = xa_erase(&client->images, arg->id);
	if (image)
		client->nimages--;
	mutex_unlock(&client->lock);
	if (!image)
		return -ENOENT;
	gpuemu_client_uncharge(client, image->bytes);
	image_put(image);
	return 0;
}

/* An image whose id the client has not heard is of no use to it. */
int gpuemu_told_image_load(struct gpuemu_client *client,
			   const struct gpuemu_module_load *arg, bool heard)
{
	struct gpuemu_module_unload unload = { .id = arg->id };

	return heard ? 0 : gpuemu_cmd_image_unload(client, &unload);
}

int gpuemu_cmd_image_read(struct gpuemu_client *client,
			  struct gpuemu_module_read *arg)
{
	struct gpuemu_engine *e = gpuemu_client_engine(client);
	struct gpuemu_client *owner;
	struct image *image;
	u32 room = arg->image_bytes;
	int ret = 0;

	if (!e)
		return -EPERM;
	if (gpuemu_engine_lost(e))
		return -ENODEV;
	owner = gpuemu_client_get(client->dev, arg->va_space);
	if (!owner)
		return -ESRCH;
	/* Without the client's lock: the client may have it for long, and the engine waits for none. */
	xa_lock(&owner->images);
	image = xa_load(&owner->images, arg->id);
	if (image)
		kref_get(&image->ref);
	xa_unlock(&owner->images);
	gpuemu_client_put(owner);
	if (!image)
		return -ENOENT;

	arg->image_bytes = image->bytes;
	if (image->bytes > room)
		ret = -ENOSPC;
	else if (copy_to_user(u64_to_user_ptr(arg->image), image->data,
			      image->bytes))
		ret = -EFAULT;
	image_put(image);
	return ret;
}

/* The file is being released: nobody loads or finds images any more. */
void gpuemu_image_free_all(struct gpuemu_client *client)
{
	struct image *image;
	unsigned long id;

	mutex_lock(&client->lock);
	xa_for_each(&client->images, id, image) {
		xa_erase(&client->images, id);
		image_put(image);
	}
	xa_destroy(&client->images);
	mutex_unlock(&client->lock);
}
