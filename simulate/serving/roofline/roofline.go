// Package roofline says how long an iteration of a model takes on GPUs, from coefficients fitted to
// public measurements of its operations, and how much memory it needs.
//
// An iteration consists of matrix products, attention and all-reduces. Measured operations of
// public tables became a compact Description for each kind of GPU, part of this package; from it the
// iterations of any dense model are composed (Layout), and the coefficients of serving.Time are fitted to
// them (fitTime). The form is a roofline (Williams, Waterman and Patterson, "Roofline: An Insightful Visual
// Performance Model for Multicore Architectures", CACM 2009): at few tokens the weights are read, which is
// flat, at many the products are computed, which slopes.
package roofline
