//! Reverse-mode differentiation: what was computed is written down, and read backwards.
//!
//! A [`Tape`] records coarse operations with hand-written backward passes; a [`Var`] is a value and its place on the
//! tape. One tape serves one pass and is then dropped. [`Tape::inference`] records nothing and costs nothing.

use std::cell::RefCell;

use crate::element::Element;
use crate::error::{Result, TensorError};
use crate::gradient::{Gradient, RowGradient, add_rows};
use crate::kernels::Segment;
use crate::ops::for_parts_of;
use crate::{List, Precision, Shape, Tensor, Threads, recycle};

/// A value, and where its gradient will be found, if it has one.
#[derive(Clone, Debug)]
pub struct Var<T: Element = f32> {
    value: Tensor<T>,
    slot: Option<usize>,
}

impl<T: Element> Var<T> {
    /// A value without a gradient.
    #[must_use]
    pub fn constant(value: Tensor<T>) -> Self {
        Self { value, slot: None }
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &Tensor<T> {
        &self.value
    }

    /// The value alone.
    #[must_use]
    pub fn into_value(self) -> Tensor<T> {
        self.value
    }

    /// The shape of the value.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.value.shape()
    }

    /// Whether a gradient flows to this value.
    #[must_use]
    pub fn has_gradient(&self) -> bool {
        self.slot.is_some()
    }

    /// The same value, through which no gradient flows.
    #[must_use]
    pub fn detach(&self) -> Self {
        Self::constant(self.value.clone())
    }
}

/// An operation on the tape: the places and shapes of its outputs, and its backward pass, which gets the gradients of the
/// outputs and adds to those of the inputs.
struct Record<F, const N: usize> {
    first_output: usize,
    shapes: [Shape; N],
    backward: F,
}

/// What can be done with a record whatever the operation is.
trait Step<T: Element> {
    /// Runs the backward pass, where the loss depends on an output.
    fn run(self: Box<Self>, threads: &Threads, gradients: &mut Gradients<T>) -> Result<()>;
}

impl<T, F, const N: usize> Step<T> for Option<Record<F, N>>
where
    T: Element,
    F: FnOnce(&Threads, &[Option<Tensor<T>>], &mut Gradients<T>) -> Result<()> + 'static,
{
    fn run(self: Box<Self>, threads: &Threads, gradients: &mut Gradients<T>) -> Result<()> {
        let Some(Record { first_output, shapes, backward }) = recycle::unboxed(self) else { return Ok(()) };
        let mut slot = first_output;
        let outputs = shapes.map(|shape| {
            slot += 1;
            gradients.take_slot(threads, slot - 1, shape)
        });
        if outputs.iter().any(Option::is_some) { backward(threads, &outputs, gradients) } else { Ok(()) }
    }
}

/// The list of operations of one pass, and the threads that compute them.
pub struct Tape<T: Element = f32> {
    threads: Threads,
    precision: Precision,
    recording: bool,
    slots: RefCell<usize>,
    records: RefCell<List<Box<dyn Step<T>>>>,
}

impl<T: Element> Tape<T> {
    /// A tape that records, for training.
    #[must_use]
    pub fn new(threads: &Threads) -> Self {
        Self {
            threads: threads.clone(),
            precision: Precision::default(),
            recording: true,
            slots: RefCell::default(),
            records: RefCell::default(),
        }
    }

    /// A tape that records nothing, for running a trained model.
    #[must_use]
    pub fn inference(threads: &Threads) -> Self {
        Self { recording: false, ..Self::new(threads) }
    }

    /// The same tape, on which products with weights are computed in another precision.
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// What products with weights are computed in.
    #[must_use]
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The threads that compute the operations on this tape.
    #[must_use]
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Whether operations are recorded.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.recording
    }

    /// A value whose gradient is wanted.
    #[must_use]
    pub fn leaf(&self, value: Tensor<T>) -> Var<T> {
        let slot = self.recording.then(|| self.reserve(1));
        Var { value, slot }
    }

    fn reserve(&self, count: usize) -> usize {
        let mut slots = self.slots.borrow_mut();
        let first = *slots;
        *slots += count;
        first
    }

    /// Whether an operation on these inputs needs a backward pass.
    pub(crate) fn needs_gradient(&self, inputs: &[&Var<T>]) -> bool {
        self.needs_gradient_of(inputs.iter().copied())
    }

    /// As [`Tape::needs_gradient`], of any number of inputs.
    pub(crate) fn needs_gradient_of<'a>(&self, inputs: impl IntoIterator<Item = &'a Var<T>>) -> bool {
        self.recording && inputs.into_iter().any(Var::has_gradient)
    }

    /// The outputs of an operation, with their backward pass.
    pub(crate) fn record<const N: usize>(
        &self,
        outputs: [Tensor<T>; N],
        backward: impl FnOnce(&Threads, &[Option<Tensor<T>>], &mut Gradients<T>) -> Result<()> + 'static,
    ) -> [Var<T>; N] {
        let first_output = self.reserve(N);
        let shapes = outputs.each_ref().map(Tensor::shape);
        self.records.borrow_mut().push(recycle::boxed(Record { first_output, shapes, backward }));
        let mut slot = first_output;
        outputs.map(|value| {
            slot += 1;
            Var { value, slot: Some(slot - 1) }
        })
    }

    /// The gradients of one number with respect to everything recorded that it depends on.
    ///
    /// # Errors
    /// Where `loss` is not one recorded number.
    pub fn backward(self, loss: &Var<T>) -> Result<Gradients<T>> {
        let slot = loss.slot.filter(|_| loss.shape().len() == 1);
        let slot = slot.ok_or(TensorError::NotALoss { shape: loss.shape() })?;
        let slots = (0..self.slots.into_inner()).map(|_| Slot::default()).collect();
        let mut gradients = Gradients { slots, precision: self.precision, threads: self.threads.clone() };
        gradients.slots[slot].dense = Some(Tensor::build(loss.shape(), |values| values.fill(T::ONE)));
        let mut records = self.records.into_inner();
        while let Some(record) = records.pop() {
            record.run(&self.threads, &mut gradients)?;
        }
        gradients.finish(&self.threads);
        Ok(gradients)
    }
}

/// Gradients by the place of their value on the tape.
pub struct Gradients<T: Element = f32> {
    slots: List<Slot<T>>,
    precision: Precision,
    threads: Threads,
}

/// A gradient under construction. Products of a weight are kept until the end and then summed as one long product,
/// so that the order of the sum is the order of the rows, whatever the number of threads. What is read of a table is kept
/// until the end too, or until the table has a gradient that is not of rows.
struct Slot<T: Element> {
    dense: Option<Tensor<T>>,
    /// Ids and the gradients of their rows; none where there is a dense gradient.
    reads: List<(List<u32>, Tensor<T>)>,
    products: List<(Tensor<T>, Tensor<T>)>,
}

impl<T: Element> Default for Slot<T> {
    fn default() -> Self {
        Self { dense: None, reads: List::default(), products: List::default() }
    }
}

impl<T: Element> Slot<T> {
    fn flush(&mut self, threads: &Threads, precision: Precision) {
        let Some((dy, x)) = self.products.last() else { return };
        let (outputs, inputs) = (dy.shape().last(), x.shape().last());
        self.spread([outputs, inputs].into());
        let fresh = self.dense.is_none();
        let mut sum = self.dense.take().unwrap_or_else(|| Tensor::build([outputs, inputs], |_| ()));
        self.products.reverse();
        weight_gradient(threads, precision, &self.products, (outputs, inputs), sum.values_mut(), !fresh);
        self.products.clear();
        self.dense = Some(sum);
    }

    /// Writes rows that were read into a dense gradient of this shape.
    fn spread(&mut self, shape: Shape) {
        if !self.reads.is_empty() {
            self.dense = Some(RowGradient::sum(shape, &std::mem::take(&mut self.reads)).to_dense());
        }
    }

    /// A slot that is done with: what it has, in the form in which it has it.
    fn gradient(&self, shape: Shape) -> Option<Gradient<T>> {
        if self.reads.is_empty() {
            return self.dense.clone().map(Gradient::Dense);
        }
        Some(Gradient::Rows(RowGradient::sum(shape, &self.reads)))
    }
}

impl<T: Element> Segment<T> for (Tensor<T>, Tensor<T>) {
    fn dy(&self) -> &[T] {
        self.0.values()
    }

    fn x(&self) -> &[T] {
        self.1.values()
    }

    fn rows(&self) -> usize {
        self.1.shape().rows()
    }
}

/// The gradient of a weight from segments, in a precision: see [`Kernels::gemm_tn`](crate::kernels::Kernels::gemm_tn).
pub(crate) fn weight_gradient<T: Element>(
    threads: &Threads,
    precision: Precision,
    segments: &[impl Segment<T>],
    (outputs, inputs): (usize, usize),
    sum: &mut [T],
    accumulate: bool,
) {
    match precision {
        Precision::Bf16 => T::gemm_tn_bf16(threads, segments, outputs, inputs, sum, accumulate),
        Precision::F32 | Precision::Int8 => T::gemm_tn(threads, segments, outputs, inputs, sum, accumulate),
    }
}

impl<T: Element> Gradients<T> {
    /// All values of the gradient of a value; `None` where the loss does not depend on it.
    #[must_use]
    pub fn get(&self, var: &Var<T>) -> Option<Tensor<T>> {
        Some(self.slots.get(var.slot?)?.gradient(var.shape())?.into_dense())
    }

    /// Takes the gradient of a value out: of a table of which rows were read and nothing else, these rows.
    pub fn take(&mut self, var: &Var<T>) -> Option<Gradient<T>> {
        std::mem::take(self.slots.get_mut(var.slot?)?).gradient(var.shape())
    }

    /// Adds a tensor to the gradient of `var`, where it has one.
    pub(crate) fn add(&mut self, var: &Var<T>, gradient: &Tensor<T>) -> Result<()> {
        let Some(slot) = var.slot else { return Ok(()) };
        self.slots[slot].spread(var.shape());
        match &mut self.slots[slot].dense {
            Some(sum) => for_parts_of(&self.threads, sum.values_mut(), |first, sum| {
                T::add_assign(sum, &gradient.values()[first..][..sum.len()]);
            }),
            empty => *empty = Some(gradient.reshape(var.shape())?),
        }
        Ok(())
    }

    /// Lets `change` write (`fresh` is true, contents unspecified) or add to the gradient of `var`, where it has one.
    pub(crate) fn update(&mut self, var: &Var<T>, change: impl FnOnce(&mut [T], bool)) {
        let Some(slot) = var.slot else { return };
        self.slots[slot].spread(var.shape());
        match &mut self.slots[slot].dense {
            Some(sum) => change(sum.values_mut(), false),
            empty => *empty = Some(Tensor::build(var.shape(), |values| change(values, true))),
        }
    }

    /// Lets `change` add to the gradient of `var`, where it has one.
    pub(crate) fn accumulate(&mut self, var: &Var<T>, change: impl FnOnce(&mut [T])) {
        self.update(var, |values, fresh| {
            if fresh {
                values.fill(T::ZERO);
            }
            change(values);
        });
    }

    /// As [`Gradients::accumulate`]; what `change` writes is thrown away where `var` has no gradient.
    pub(crate) fn accumulate_always(&mut self, var: &Var<T>, change: impl FnOnce(&mut [T])) {
        if var.has_gradient() {
            self.accumulate(var, change);
        } else {
            change(Tensor::zeros(var.shape()).values_mut());
        }
    }

    /// Adds `dyᵀ · x` to the gradient of the weight `var`, at the end.
    pub(crate) fn add_product(&mut self, var: &Var<T>, dy: &Tensor<T>, x: &Tensor<T>) {
        if let Some(slot) = var.slot {
            self.slots[slot].products.push((dy.clone(), x.clone()));
        }
    }

    /// Adds each row of `dy` `[ids, width]` to the row of the table `var` that has its id.
    pub(crate) fn add_rows(&mut self, var: &Var<T>, ids: List<u32>, dy: &Tensor<T>) {
        let Some(slot) = var.slot else { return };
        let Slot { dense, reads, .. } = &mut self.slots[slot];
        match dense {
            Some(sum) => add_rows(sum.values_mut(), ids.iter().map(|&id| id as usize), dy),
            None => reads.push((ids, dy.clone())),
        }
    }

    fn take_slot(&mut self, threads: &Threads, slot: usize, shape: Shape) -> Option<Tensor<T>> {
        self.slots[slot].flush(threads, self.precision);
        self.slots[slot].spread(shape);
        self.slots[slot].dense.take().map(|gradient| gradient.reshape(shape).unwrap_or(gradient))
    }

    fn finish(&mut self, threads: &Threads) {
        for slot in &mut self.slots {
            slot.flush(threads, self.precision);
        }
    }
}
