// Package simulate plays jobs against capacity: a discrete-event simulation of
// queues, gangs and pools that keeps exact accounts of who held what.
//
// # What happens at one instant
//
// Time is whole seconds since the run's start. All events of an instant are
// handled first, in the order of their kinds: jobs finish, nodes get notice,
// nodes go (and with them every gang that has a part there), nodes come, jobs
// arrive, and turns that were asked for come due. Only then, when the instant
// has settled, each queue to which something happened gets one turn. So a job
// that ends at t frees its GPUs for one that is submitted at t, and the order
// of a trace's lines matters only between jobs that are submitted together.
// Event-by-event simulators differ here: see Feitelson's pyss, which schedules
// after each event and so lets a small job slip in between two that end
// together.
//
// Within a kind the order is that of planning, so the order of events is total,
// and the same Config gives the same events on any number of cores.
//
// # Who may change what
//
// A Policy decides which waiting jobs start; it asks through a Turn and is told
// yes or no at once. A Placement says where a job would go; it reads the
// Cluster. Only the engine changes jobs, nodes and accounts, and it panics when
// a GPU would be held twice, for that is a bug.
//
// # Capacity
//
// Pools are capacity of one kind. Committed pools (owned, reserved) are offered
// from delivery to their end, and each of their GPUs is at every instant used,
// idle, blocked (free while jobs wait that could use it) or down; the ledger
// checks that these sum to what was offered, and that what was used is the sum
// of what tenants held. Elastic pools (on-demand, spot) are offered while held.
// A job goes first to committed pools, together, then to each rank of overflow
// once its patience has ended. A gang holds GPUs of one pool.
//
// # Queues
//
// A partition that has a pool of its own has a queue of its own; all other jobs
// share one. Queues that share pools form a cell; what happens in one cell
// cannot matter in another.
//
// # Packages
//
// simulate/policy has the policies, simulate/placement the placements,
// simulate/supply the comings and goings of nodes, each in a Catalog or by name,
// and simulate/cause an Observer that finds out why jobs wait. A run takes values
// of them; this package knows none of their names. A policy sees nothing but the
// Turn, a placement nothing but the Cluster. What they do beyond their one method
// is a small interface, found before the run begins: Keyed, Preemptor, Counting,
// Observer and those beside it. TestConform holds each to the laws. Prices are
// not known here: scenarios/money/billing prices the Record of a run.
package simulate
