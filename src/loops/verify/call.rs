//! Calls: of other functions, and of what measures workspace.
//!
//! In: a call. Out: an error where its arguments are not what the callee's parameters need.
//!
//!     call g(n, &v, &s), g of (n: size, v: f64[n], out: f64)   →   well-formed, s a variable of doubles

use super::{Checked, Verifier};
use crate::loops::analysis::failures::can_fail;
use crate::loops::program::*;

impl Verifier<'_> {
    fn callee(&self, name: &str) -> Result<&LoopFunction, String> {
        self.done.iter().find(|other| &*other.name == name).ok_or_else(|| format!("`{name}` is not there before its caller"))
    }

    pub fn invoke(&mut self, call: &Invocation) -> Checked {
        let callee = self.done.iter().find(|other| other.name == call.callee);
        let callee = callee.ok_or_else(|| format!("`{}` is not there before its caller", call.callee))?;
        let takes_room = callee.workspace.needed || callee.is_entry;
        let (args, room) = match call.args.as_slice() {
            [args @ .., Argument::Workspace] => (args, true),
            args => (args, false),
        };
        self.ensure(room == takes_room, || format!("`{}` and its call differ about workspace", call.callee))?;
        let fails = callee.is_entry || can_fail(&callee.body);
        self.ensure(call.fallible == fails, || format!("`{}` and its call differ about failure", call.callee))?;
        self.ensure(args.len() == callee.params.len(), || format!("`{}` takes {} arguments", call.callee, callee.params.len()))?;
        self.ensure(call.measures.len() == callee.measured_by_callers().count(), || {
            format!("the workspace of `{}` is measured by {} arguments", call.callee, callee.measured_by_callers().count())
        })?;
        for (param, arg) in callee.params.iter().zip(args) {
            let elem = callee.locals.get(param.id).map_or(Elem::Bytes, |local| local.elem);
            self.argument(&param.role, elem, arg)?;
        }
        for measure in &call.measures {
            if let Measure::Bool(value) = measure {
                self.value(value, Elem::Bool)?;
            }
        }
        Ok(())
    }

    fn argument(&mut self, role: &Role, elem: Elem, arg: &Argument) -> Checked {
        let found = match (role, arg) {
            (Role::Size | Role::Scalar, Argument::Value(value)) => return self.value(value, elem),
            (Role::Array(_), Argument::Pointer(pointer)) => {
                self.address(pointer)?;
                self.read(pointer.base)?
            }
            (Role::OutScalar | Role::OutArray(_), Argument::Pointer(pointer)) => {
                self.address(pointer)?;
                let found = self.target(pointer.base)?;
                self.memory.write(pointer.base);
                found
            }
            (Role::OutScalar, Argument::Address(id)) => {
                let found = self.variable(*id)?;
                self.memory.set(*id);
                found
            }
            (Role::Size | Role::Scalar, _) => return Err("an argument is no number where the parameter is one".into()),
            (Role::Array(_) | Role::OutScalar | Role::OutArray(_), _) => {
                return Err("an argument is no place in memory where the parameter is one".into());
            }
        };
        self.ensure(found == elem, || "an argument points to elements of another kind".into())
    }

    /// A call of what measures workspace: its kind, bytes.
    pub fn measure(&mut self, callee: &Callee, args: &[Argument]) -> Result<Elem, String> {
        let own = |name: &str| *name == *self.function.name;
        let measure = match callee {
            Callee::Body(name) => return Err(format!("`{name}` gives no value to an expression")),
            Callee::Workspace(name) if own(name) => &self.function.workspace,
            Callee::Workspace(name) => &self.callee(name)?.workspace,
            Callee::Slice(name, number) => {
                let slices = if own(name) { &self.function.slices } else { &self.callee(name)?.slices };
                let slice = slices.get(*number).ok_or_else(|| format!("`{name}` has no slice {number}"))?;
                &slice.measure
            }
            Callee::Deeper(name) => {
                self.ensure(own(name), || format!("`{name}` has stacks of its own"))?;
                let ids = self.function.measured_by_callers().map(|(id, _)| *id);
                self.numbers(args, ids.filter_map(|id| self.locals.get(id)).map(|local| local.elem).collect())?;
                return Ok(Elem::Index);
            }
        };
        let elems = measure.all_params().filter_map(|id| measure.locals.get(id)).map(|local| local.elem).collect();
        self.numbers(args, elems)?;
        Ok(Elem::Bytes)
    }

    fn numbers(&mut self, args: &[Argument], elems: Vec<Elem>) -> Checked {
        self.ensure(elems.len() == args.len(), || format!("a measure takes {} arguments", elems.len()))?;
        for (elem, arg) in elems.into_iter().zip(args) {
            match arg {
                // what the measure does not read is given as 0
                Argument::Value(Value::Index(0)) => {}
                Argument::Value(value) => self.value(value, elem)?,
                Argument::Pointer(_) | Argument::Address(_) | Argument::Workspace => return Err("a measure takes numbers".into()),
            }
        }
        Ok(())
    }
}
