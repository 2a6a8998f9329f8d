//! Persistent scopes: extending one leaves the old one as it was, so closures can keep theirs.

use std::rc::Rc;

/// A linked list of names, the innermost first.
pub struct Env<T>(Option<Rc<Node<T>>>);

struct Node<T> {
    name: Rc<str>,
    value: T,
    outer: Env<T>,
}

impl<T> Default for Env<T> {
    fn default() -> Env<T> {
        Env(None)
    }
}

impl<T> Clone for Env<T> {
    fn clone(&self) -> Env<T> {
        Env(self.0.clone())
    }
}

impl<T> Env<T> {
    pub fn with(&self, name: &Rc<str>, value: T) -> Env<T> {
        Env(Some(Rc::new(Node { name: name.clone(), value, outer: self.clone() })))
    }

    pub fn get(&self, name: &str) -> Option<&T> {
        let mut env = self;
        while let Some(node) = &env.0 {
            if &*node.name == name {
                return Some(&node.value);
            }
            env = &node.outer;
        }
        None
    }
}
