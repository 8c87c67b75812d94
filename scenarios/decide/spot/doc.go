// Package spot says what a job under a deadline costs on spot capacity that comes and goes: it plays
// the policies of Wu et al., "Can't Be Late: Optimizing Spot Instance Savings under Deadlines", NSDI
// 2024, on a recorded availability, and finds the least cost with all known.
//
// Time goes in ticks, the gap of the recording. In each tick the job is idle, on spot or on demand;
// whole ticks are paid. Whenever it starts or changes over it first spends a delay without progress.
// Spot is to be had for the whole job or not at all.
package spot
