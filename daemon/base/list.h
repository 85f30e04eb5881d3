/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Intrusive circular doubly linked list. A head is a list that nothing
 * contains; an entry that is in no list points to itself after list_del(), so
 * deleting twice is harmless.
 */
#ifndef GPUEMU_BASE_LIST_H
#define GPUEMU_BASE_LIST_H

#include "base/base.h"

struct list {
	struct list *next, *prev;
};

static inline void list_init(struct list *l)
{
	l->next = l;
	l->prev = l;
}

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

/* Puts entry right before pos; before a head means at the tail. */
static inline void list_insert(struct list *pos, struct list *entry)
{
	entry->prev = pos->prev;
	entry->next = pos;
	pos->prev->next = entry;
	pos->prev = entry;
}

static inline void list_add_tail(struct list *head, struct list *entry)
{
	list_insert(head, entry);
}

static inline void list_add_head(struct list *head, struct list *entry)
{
	list_insert(head->next, entry);
}

static inline void list_del(struct list *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	list_init(entry);
}

static inline void list_move_tail(struct list *head, struct list *entry)
{
	list_del(entry);
	list_add_tail(head, entry);
}

#define list_entry(ptr, type, member) container_of(ptr, type, member)

#define list_for_each(pos, head) \
	for (struct list *pos = (head)->next; pos != (head); pos = pos->next)

/* pos may be deleted in the body. */
#define list_for_each_safe(pos, head) \
	for (struct list *pos = (head)->next, *pos##_next = pos->next; \
	     pos != (head); pos = pos##_next, pos##_next = pos->next)

#endif
