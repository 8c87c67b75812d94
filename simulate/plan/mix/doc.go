// Package mix searches mixes of a scenario for the best one under limits.
//
// A mix is one choice for each axis of a Space: the sizes of pools, the patience, the
// policy. A Search simulates mixes over the same runs (common random numbers), drops
// those that a lower bound on the cost or a sequential test rules out, and keeps the
// cheapest that holds the limits, and the frontier of cost against wait. Bound proves
// how far the plan may be above the least cost that is possible.
//
// What comes out depends on the inputs alone: not on the number of cores, the order of
// the work or how Pieces is cut into shards.
package mix
