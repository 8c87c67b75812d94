// Package validate holds a simulation against the past that a log records: how
// far the simulated waits are from the recorded ones, and what of the
// difference is no matter of GPUs.
//
// # Fidelity
//
// Measure compares the waits of a replay with the recorded ones. Its headline is
// Distance, the mean difference of five quantiles on a logarithmic scale: it
// tells a harmless difference (two jobs that changed places) from a harmful one.
// The mean difference by job and the Brier score of "waits over an hour" stand
// beside it. Each has a floor: what 30 seconds of jitter in the run times alone
// would cause.
//
// # Hindsight
//
// FitTime, Overtaken and NoStarts use the recorded starts. They say why the past
// was otherwise: jobs that waited though they would have fitted, jobs that later
// and no smaller jobs overtook, stretches in which nothing started. They are
// kept apart from the measures of fidelity, for a model that has seen the answer
// proves nothing.
package validate
