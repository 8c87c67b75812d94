// Package cause finds out why jobs wait: Waits is an observer of a run that assigns
// each second of each wait to a set of causes.
package cause

import (
	"math/bits"
	"strings"
)

// Cause is why a job waits: a set of single changes, each of which alone would let it
// start. Most sets have one member. A set with several cannot be divided between them.
// Together with Quota, the other causes also stand in the way.
type Cause uint32

// The causes. Capacity, Ceiling and SpotShort remain when only more GPUs would help.
const (
	Order      Cause = 1 << iota // there is room: the policy lets others go first
	Capacity                     // committed GPUs of the right kind are all held
	Ceiling                      // so are the on-demand GPUs that may be had
	SpotShort                    // so are the spot GPUs that may be had
	Together                     // GPUs enough are free, but not on one node or in one pool
	Host                         // the GPUs are free, but not the CPUs or the memory beside them
	Patience                     // there is room on demand or on spot, but the job may not go there yet
	Down                         // room would be on nodes that have failed or are about to go
	SpotGone                     // room would be on spot nodes that were taken away
	Outside                      // room would be in capacity not yet delivered, or ended
	OtherModel                   // committed GPUs are free, but of a model that the job did not ask for
	OtherShare                   // committed GPUs are free, but of another partition
	Quota                        // its tenant may hold no more
	Lead                         // capacity is ordered and not there yet
	Shortage                     // nodes that would be bought cannot be had now
	Unordered                    // nodes could be bought, and nobody has ordered them
	NoDomain                     // GPUs enough are free together, but not in a domain that the job's shape may have

	causes = iota
)

var causeNames = [causes]string{
	"order", "capacity", "on_demand_ceiling", "spot_short", "not_together", "host", "patience",
	"down", "spot_gone", "not_delivered", "other_model", "other_partition", "quota", "lead_time",
	"shortage", "not_ordered", "no_domain",
}

// String returns the names of the causes with | between them.
func (c Cause) String() string {
	var out []string
	for i, name := range causeNames {
		if c&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, "|")
}

// Several reports whether c is more than one cause.
func (c Cause) Several() bool { return bits.OnesCount32(uint32(c)) > 1 }

// Split returns the causes in c one by one.
func (c Cause) Split() []Cause {
	var out []Cause
	for i := range causes {
		if one := Cause(1) << i; c&one != 0 {
			out = append(out, one)
		}
	}
	return out
}
