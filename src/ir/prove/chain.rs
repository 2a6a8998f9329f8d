//! A persistent list: an inner scope extends the outer scope's list and shares it.
//!
//! In: items, one after the other. Out: the items, the newest first. A copy takes constant time, so that a thousand nested scopes
//! take linear memory.

use std::rc::Rc;

#[derive(Debug)]
pub(super) struct Chain<T>(Option<Rc<Link<T>>>);

#[derive(Debug)]
struct Link<T> {
    item: T,
    older: Chain<T>,
}

impl<T> Default for Chain<T> {
    fn default() -> Chain<T> {
        Chain(None)
    }
}

impl<T> Clone for Chain<T> {
    fn clone(&self) -> Chain<T> {
        Chain(self.0.clone())
    }
}

impl<T> Chain<T> {
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub fn push(&mut self, item: T) {
        let older = std::mem::take(self);
        self.0 = Some(Rc::new(Link { item, older }));
    }

    /// The newest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let mut next = self;
        std::iter::from_fn(move || {
            let link = next.0.as_ref()?;
            next = &link.older;
            Some(&link.item)
        })
    }

    /// The oldest first.
    pub fn in_order(&self) -> Vec<&T> {
        let mut items: Vec<&T> = self.iter().collect();
        items.reverse();
        items
    }
}

impl<T: Clone> Chain<T> {
    /// Puts an item in the place of the newest that is like it, and before all others if there is none.
    pub fn replace(&mut self, item: T, is_like: impl Fn(&T) -> bool) {
        let Some(depth) = self.iter().position(is_like) else { return self.push(item) };
        let newer: Vec<T> = self.iter().take(depth).cloned().collect();
        for _ in 0..=depth {
            let older = self.0.as_ref().map(|link| link.older.clone());
            *self = older.unwrap_or_default();
        }
        newer.into_iter().rev().for_each(|item| self.push(item));
        self.push(item);
    }
}

/// One link after the other: a long list is no deep recursion.
impl<T> Drop for Chain<T> {
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut link) = next.and_then(Rc::into_inner) {
            next = link.older.0.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Chain;

    fn items(chain: &Chain<i32>) -> Vec<i32> {
        chain.in_order().into_iter().copied().collect()
    }

    #[test]
    fn what_is_replaced_in_a_copy_stays_in_the_other() {
        let mut outer = Chain::default();
        (1..=4).for_each(|item| outer.push(item));
        let mut inner = outer.clone();
        inner.replace(20, |item| *item == 2);
        inner.replace(30, |item| *item == 9);
        assert_eq!(items(&inner), [1, 3, 4, 20, 30]);
        assert_eq!(items(&outer), [1, 2, 3, 4]);
    }

    #[test]
    fn a_long_list_is_dropped() {
        let mut chain = Chain::default();
        (0..1_000_000).for_each(|item| chain.push(item));
        drop(chain);
    }
}
