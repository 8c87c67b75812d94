package simulate

import "capcli"

// Buying makes the nodes of an on-demand or spot Pool bought ones: a node is ordered, comes after a lead
// time, serves several jobs, is idle for a while and is given back. The node is billed whole, from its
// order or its coming to its release; one that the pool's Supply takes is billed to its loss. Pool.Nodes
// is the most nodes at once. Such a pool has no Windows and no Withheld capacity, and its MinBilling and
// Lead have no effect on jobs.
//
// Without a Scaler, nodes are ordered for waiting jobs at the end of each instant: the jobs go in their
// queues' order to what is free and what is ordered, and a job without room there orders as few nodes as
// let it fit by the run's placement, in the first pool of its order of overflow that can deliver them.
type Buying struct {
	Lead      func(n int64) capcli.Seconds // time from the n-th order, from 0, to its coming; nil is Pool.Lead
	FromOrder bool                         // billed from the order rather than from the coming
	Least     capcli.Seconds               // shortest time billed for a node
	Unit      capcli.Seconds               // billed time is rounded up to a multiple of this; 0 is a second
	Idle      capcli.Seconds               // an empty node is given back after this
	Warm      int                          // nodes that are there from the start, and kept even if empty
	Step      capcli.Seconds               // how often Scaler decides; 0 is a minute
	Scaler    NewScaler                    // nil orders what waiting jobs need and has no node in reserve
	Shortage  Shortage                     // nil is none
	// Retry is how long a pool is left alone after an order failed; 0 is three minutes, as Karpenter does
	// (its documentation, "Scheduling": an offering with an insufficient-capacity error is unavailable for
	// three minutes).
	Retry capcli.Seconds

	// Consolidate moves the jobs of a node to others when all of them fit there, at most once in each
	// Consolidate and only from nodes on which no job has started or ended for that long; 0 never does.
	Consolidate capcli.Seconds
}

// Shortage says when nodes cannot be had. An order that fails is tried again.
type Shortage interface {
	// Available returns how many of n nodes can be had at a time for a pool that has some already, and the
	// next time at which that may change, which is later. Times never go back.
	Available(at capcli.Seconds, have, n int) (granted int, next capcli.Seconds)
}

// PaidWhole reports whether what is free of the pool is paid for as well: committed pools, and bought
// nodes.
func (p *Pool) PaidWhole() bool { return p.Buy != nil || p.Terms.Committed() }

// retryOrders is the default of Buying.Retry.
const retryOrders = 3 * capcli.Minute

// BoughtNode is the life of one bought node. Times are since the run's start; -1 is never.
type BoughtNode struct {
	Pool, Node int            // the pool, and the node's place in it
	Ordered    capcli.Seconds // when it was ordered
	Came       capcli.Seconds // when jobs could use it; -1 if it never came
	Ended      capcli.Seconds // when it was given back or lost, or the run ended
	Lost       bool           // taken away by the pool's Supply
	Stands     bool           // it was there, or on its way, when the run ended
	From, To   capcli.Seconds // billed time within the run
	Beyond     capcli.Seconds // time billed beyond the end of the run, by minimum and rounding
}

// BoughtPool is what became of a pool of bought nodes.
type BoughtPool struct {
	Pool      int            // index in Record.Pools
	Ordered   int64          // nodes ordered, warm ones not counted
	Warm      int64          // nodes that were there from the start
	Came      int64          // of Ordered
	Lost      int64          // nodes taken away
	Most      int            // most nodes at once, ordered ones included
	Refused   int64          // nodes that could not be had when they were ordered
	Tries     int64          // orders that were refused
	Emptied   int64          // nodes given back because their jobs fitted elsewhere
	Moved     int64          // jobs moved for that
	Lead      capcli.Seconds // sum over Ordered of the time until it came, the run ended or it was called off
	Billed    capcli.Seconds // node time billed
	Span      Span           // what became of the GPU time billed
	LeadWait  capcli.Seconds // job time spent waiting for nodes on their way
	ShortWait capcli.Seconds // job time spent waiting for nodes that could not be had
}
