package capcli

// Near says how near to each other the GPUs of a job must be, and what it costs if they are not. The
// zero value asks for nothing.
type Near struct {
	Mode       NearMode
	Level      string // level of a pool's domains that Mode is about, such as rack
	SliceGPUs  int    // GPUs of a segment that must share one domain of SliceLevel; 0 is no segments
	SliceLevel string
	WorkerGPUs int        // GPUs of one worker, which is never split over nodes; 0 is by the job and the node
	Slowdown   []Slowdown // by the narrowest level that holds the whole job; none is no slowdown
	Apart      string     // level in whose domains no two jobs of this shape may be; "" is any (anti-affinity)
	Beside     string     // name of a shape whose jobs must run in the same domain of Level; "" is any (affinity)
}

// NearMode is how strictly a job is kept within a domain.
type NearMode uint8

// The modes, with the meaning of Kueue's topology-aware scheduling (KEP 2724).
const (
	Anywhere      NearMode = iota // placed by the run's placement
	Required                      // within one domain of Level, or not at all
	Preferred                     // within the narrowest domain from Level up
	Unconstrained                 // the fewest leftovers, whatever the domains
)

// Slowdown is the factor on the run time of a job that one domain of Level holds and no narrower one.
type Slowdown struct {
	Level    string // a level of domains, node, or cluster
	Num, Den int64  // above 0
}

// IsZero reports whether n asks for nothing.
func (n *Near) IsZero() bool {
	return !n.IsConfined() && len(n.Slowdown) == 0 && n.Apart == "" && n.Beside == ""
}

// IsConfined reports whether n says in which domains a job goes, rather than the run's placement.
func (n *Near) IsConfined() bool { return n.Mode != Anywhere || n.SliceGPUs > 0 }
