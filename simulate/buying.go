package simulate

import "capcli"

// Buying makes the nodes of an on-demand or spot Pool bought ones: a node is ordered, comes after a lead
// time, serves several jobs, is idle for a while and is given back. The node is billed whole, from its
// order or its coming to its release. Pool.Nodes is the most nodes at once.
type Buying struct {
	Lead      func(n int64) capcli.Seconds // time from the n-th order to its coming; nil is Pool.Lead
	FromOrder bool                         // billed from the order rather than from the coming
	Least     capcli.Seconds               // shortest time billed for a node
	Unit      capcli.Seconds               // billed time is rounded up to a multiple of this; 0 is a second
	Idle      capcli.Seconds               // an empty node is given back after this
	Warm      int                          // nodes that are kept even if empty
	Step      capcli.Seconds               // how often Scaler decides; 0 is a minute
	Scaler    NewScaler                    // nil orders what waiting jobs need and has no node in reserve
	Shortage  Shortage                     // nil is none

	// Consolidate moves the jobs of a node to others when all of them fit there, at most once in each
	// Consolidate; 0 never does.
	Consolidate capcli.Seconds
}

// Shortage says when nodes cannot be had. An order that fails is tried again.
type Shortage interface {
	// Available returns how many of n nodes can be had at a time, and the next time at which that may
	// change, which is later.
	Available(at capcli.Seconds, n int) (granted int, next capcli.Seconds)
}
