// Package mix searches the mixes of a scenario for the best one under limits.
//
// A mix is one choice for each axis of a Space: the sizes of pools, the patience, the policy. A
// Search simulates mixes over the same runs (common random numbers). It drops mixes that a lower
// bound on the cost or a sequential test rules out. It keeps the cheapest mix that holds the
// limits, and the frontier of cost against wait. Bound proves how far the plan can be above the
// least possible cost.
//
// Results depend on the inputs alone: not on the number of cores, the order of the work or how
// Pieces is cut into shards.
package mix
