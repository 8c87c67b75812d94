// Package width answers how wide a job should run. A job has options: a number of GPUs of a model, and the
// run time there. An option comes of a stated time, of Amdahl's law, or of a measured rate in steps a second.
//
// The answers about one job are exact: the cheapest option that meets a deadline, the fastest within a
// budget, and what each hour saved costs. Costs are rational numbers until they are printed.
package width
