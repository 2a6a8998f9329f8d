//! Types of expressions, pointers and stores.
//!
//! In: an expression and the kind that its place needs. Out: an error where it has another one, or where it reads what has no
//! value. An Index literal is a number of bytes too where bytes are needed.
//!
//!     out[i] = i < n, out of doubles   →   it is a bool where a double is needed

use super::{Checked, Verifier};
use crate::ir::Prim;
use crate::ir::prim::Kind;
use crate::loops::helpers::{self, Operand};
use crate::loops::program::*;
use crate::loops::values::{may_wrap, result_elem};

impl Verifier<'_> {
    /// The kind of a local that is a scalar.
    pub fn scalar(&self, id: Id) -> Result<Elem, String> {
        let local = self.local(id)?;
        match local.form {
            Form::Scalar { .. } => Ok(local.elem),
            Form::Source { .. } | Form::Target { .. } => Err(format!("`{}` is a pointer where a number is needed", local.name)),
        }
    }

    /// The kind of a scalar in scope that may be assigned.
    pub fn variable(&self, id: Id) -> Result<Elem, String> {
        let elem = self.scalar(id)?;
        self.scopes.used(id)?;
        let mutable = self.local(id)?.form == Form::Scalar { mutable: true } && !self.scopes.is_fixed(id);
        self.ensure(mutable, || format!("`{}` is a constant", self.name(id)))?;
        Ok(elem)
    }

    /// An expression in a place that needs this kind.
    pub fn value(&mut self, value: &Value, needed: Elem) -> Checked {
        let found = self.elem(value)?;
        let fits = found == needed || needed == Elem::Bytes && matches!(value, Value::Index(0..));
        self.ensure(fits, || format!("it is {} where {} is needed", name(found), name(needed)))
    }

    /// The kind of an expression whose parts fit.
    fn elem(&mut self, value: &Value) -> Result<Elem, String> {
        match value {
            Value::Local(id) => {
                let elem = self.scalar(*id)?;
                self.scopes.used(*id)?;
                self.ensure(self.memory.is_set(*id), || format!("`{}` has no value on some path", self.name(*id)))?;
                Ok(elem)
            }
            Value::Double(_) => Ok(Elem::Double),
            Value::Index(_) => Ok(Elem::Index),
            Value::Bool(_) => Ok(Elem::Bool),
            Value::SizeOf(..) => Ok(Elem::Bytes),
            Value::Prim { prim, elem, plain, args } => self.prim(*prim, *elem, *plain, args),
            Value::Load { base, offset } => {
                if let Some(offset) = offset {
                    self.value(offset, Elem::Index)?;
                    self.inside(*base, offset)?;
                }
                self.read(*base)
            }
            Value::InRow(parts) => {
                parts.iter().try_for_each(|part| self.value(part, Elem::Index))?;
                Ok(Elem::Index)
            }
            Value::Select(parts) => {
                let [cond, a, b] = &**parts;
                self.value(cond, Elem::Bool)?;
                self.unsure += 1;
                let elem = self.alike(a, b)?;
                self.unsure -= 1;
                Ok(elem)
            }
            Value::Helper(name, args) => self.helper(name, args),
            Value::Moved { now, home } => {
                self.array_of(*now)?;
                self.address(home)?;
                Ok(Elem::Bool)
            }
            Value::Call(callee, args) => self.measure(callee, args),
        }
    }

    fn alike(&mut self, a: &Value, b: &Value) -> Result<Elem, String> {
        let elem = self.elem(a)?;
        self.value(b, elem)?;
        Ok(elem)
    }

    fn prim(&mut self, prim: Prim, elem: Elem, plain: bool, args: &[Value]) -> Result<Elem, String> {
        let row = prim.row();
        self.ensure(args.len() == row.arity, || format!("`{}` takes {} operands", row.name, row.arity))?;
        let fits = match row.kind {
            Kind::Number | Kind::Order => matches!(elem, Elem::Double | Elem::Index),
            Kind::Double | Kind::DoubleToIndex | Kind::IndexDoubleToDouble => elem == Elem::Double,
            Kind::Index | Kind::IndexToDouble => elem == Elem::Index,
            Kind::Equality => elem != Elem::Bytes,
            Kind::Bool => elem == Elem::Bool,
        };
        self.ensure(fits, || format!("`{}` is not on {}", row.name, name(elem)))?;
        self.ensure(plain || elem == Elem::Index && may_wrap(prim), || format!("`{}` is marked as what may wrap", row.name))?;
        match (row.kind, args) {
            (Kind::IndexDoubleToDouble, [order, x]) => {
                self.value(order, Elem::Index)?;
                self.value(x, Elem::Double)?;
            }
            (Kind::Bool, [first, rest @ ..]) => {
                self.value(first, elem)?;
                self.unsure += 1;
                rest.iter().try_for_each(|arg| self.value(arg, elem))?;
                self.unsure -= 1;
            }
            _ => args.iter().try_for_each(|arg| self.value(arg, elem))?,
        }
        Ok(result_elem(prim, elem))
    }

    fn helper(&mut self, name: &str, args: &[Value]) -> Result<Elem, String> {
        let helper = helpers::named(name).ok_or_else(|| format!("there is no helper `{name}`"))?;
        self.ensure(args.len() == helper.takes.len(), || format!("`{name}` takes {} operands", helper.takes.len()))?;
        let mut same = None;
        for (operand, arg) in helper.takes.iter().zip(args) {
            match (operand, arg) {
                (Operand::Scalar(elem), _) => self.value(arg, *elem)?,
                (Operand::Same, _) => match same {
                    None => same = Some(self.elem(arg)?),
                    Some(elem) => self.value(arg, elem)?,
                },
                (Operand::Array(elem), Value::Local(base)) => {
                    let found = self.read(*base)?;
                    self.ensure(found == *elem, || format!("`{name}` reads an array of {}", self::name(*elem)))?;
                }
                (Operand::Array(_), _) => return Err(format!("`{name}` takes the name of an array")),
            }
        }
        match helper.gives {
            Operand::Scalar(elem) | Operand::Array(elem) => Ok(elem),
            Operand::Same => same.ok_or_else(|| format!("`{name}` has no operand of its kind")),
        }
    }

    /// The kind of the elements of a pointer in scope.
    fn array_of(&self, base: Id) -> Result<Elem, String> {
        let local = self.local(base)?;
        self.scopes.used(base)?;
        self.ensure(!matches!(local.form, Form::Scalar { .. }), || format!("`{}` is no pointer", local.name))?;
        Ok(local.elem)
    }

    /// An array that is read.
    pub fn read(&mut self, base: Id) -> Result<Elem, String> {
        let elem = self.array_of(base)?;
        let may_be_written = self.memory.read(base);
        // an array without elements is read in loops without steps
        self.ensure(may_be_written || self.idle > 0, || format!("`{}` is read and nothing was written to it", self.name(base)))?;
        Ok(elem)
    }

    /// A place in an array: the kind of its elements.
    pub fn address(&mut self, pointer: &Pointer) -> Result<Elem, String> {
        if let Some(offset) = &pointer.offset {
            self.value(offset, Elem::Index)?;
        }
        self.array_of(pointer.base)
    }

    /// What a new pointer is made of.
    pub fn pointer(&mut self, pointer: &Pointer, id: Id) -> Checked {
        let elem = self.address(pointer)?;
        let (from, to) = (self.local(pointer.base)?, self.local(id)?);
        let fits = match (from.form, to.form) {
            (Form::Source { .. } | Form::Target { .. }, Form::Source { .. }) | (Form::Target { .. }, Form::Target { .. }) => true,
            (Form::Source { .. }, Form::Target { .. }) | (Form::Scalar { .. }, _) | (_, Form::Scalar { .. }) => false,
        };
        self.ensure(elem == to.elem && fits, || format!("`{}` cannot point into `{}`", to.name, from.name))
    }

    pub fn store(&mut self, base: Id, offset: Option<&Value>, value: &Value) -> Checked {
        if let Some(offset) = offset {
            self.value(offset, Elem::Index)?;
            self.inside(base, offset)?;
        }
        let elem = self.target(base)?;
        self.value(value, elem)?;
        self.memory.write(base);
        Ok(())
    }

    /// The kind of the elements of an array that may be written.
    pub fn target(&mut self, base: Id) -> Result<Elem, String> {
        let elem = self.array_of(base)?;
        self.ensure(matches!(self.local(base)?.form, Form::Target { .. }), || format!("`{}` is only read", self.name(base)))?;
        self.scopes.written(base)?;
        Ok(elem)
    }
}

/// A kind with its article.
pub fn name(elem: Elem) -> &'static str {
    match elem {
        Elem::Double => "a double",
        Elem::Index => "an index",
        Elem::Bool => "a bool",
        Elem::Bytes => "a number of bytes",
    }
}
