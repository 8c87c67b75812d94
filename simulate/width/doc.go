// Package width answers how wide a job should run. A job has options: a number of GPUs of a model, and the
// run time there. An option comes of a stated time, of Amdahl's law, or of a measured rate in steps a second.
//
// The answers about one job are exact: the cheapest option that meets a deadline, the fastest within a
// budget, and what each hour saved costs. Costs are rational numbers until they are printed.
//
// Three functions answer for several jobs on the same GPUs. Moldable returns the best widths and starts where
// a job keeps its width, Malleable the best where widths change in each unit of time, and Marginal the widths
// that the rule of Optimus gives. The first two search without omission, so no policy does better. They stop
// with a *LimitError, which holds what is proven, where a case is too large.
package width
