package slurm

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// factorNames are the names of the factors of priority/multifactor, but for those of resources, in their order.
var factorNames = [6]string{"age", "assoc", "fairshare", "jobsize", "partition", "qos"}

// factors are the factors of a job in one partition, each before its weight, in the order of factorNames.
type factors struct {
	six  [6]float64
	tres []resource
}

// resource is the factor of a resource, and its weight.
type resource struct {
	name          string
	value, weight float64
}

// rules compute priorities as slurmctld does ("Multifactor Priority Plugin"), to the integer that sprio shows.
type rules struct {
	weights factors // resources have no value
	period  int64   // PriorityCalcPeriod in seconds
	simple  bool    // priority/basic: a job's place is that of its submission

	site                             *site
	maxAge, nodes, cpus              int64
	favorSmall, byTime, always       bool
	rawAssoc, rawPart, rawQOS, rawTR bool
	increase, running                bool
	topAssoc, topPart, topQOS        int64

	users         int
	keep, damping float64 // keep is the part of the usage that is left after a second
	classic, deep bool    // deep is DEPTH_OBLIVIOUS
}

// subject is what the factors of a job depend on.
type subject struct {
	Submit, Accrue int64 // 0 is not yet
	Limit          int64 // seconds; 0 is without limit
	Nodes          int64
	CPUs           int64 // that a plan gives the job; 0 is what it asks for. A job that keeps nodes whole gets all of theirs
	TRES           tres
	Assoc          *assoc
	QOS            *qos
	Nice           int64
}

// newRules returns the rules of a site, with the usage that its submissions begin with, or else that of sshare.
func newRules(s *site) *rules {
	set := s.Settings
	r := &rules{
		site: s, period: max(1, set.seconds("prioritycalcperiod", 300)), simple: cmp.Or(set["prioritytype"], "priority/multifactor") == "priority/basic",
		maxAge: max(1, (set.seconds("prioritymaxage", 7*86400)+59)/60*60), favorSmall: strings.EqualFold(set["priorityfavorsmall"], "yes"),
	}
	for i, name := range factorNames {
		r.weights.six[i] = float64(set.int("priorityweight"+name, 0))
	}
	r.tree(set)
	flag := func(name string) bool { return set.has("priorityflags", name) }
	all := flag("NO_NORMAL_ALL")
	r.byTime, r.always, r.increase, r.running = flag("SMALL_RELATIVE_TO_TIME"), flag("ACCRUE_ALWAYS"), flag("INCR_ONLY"), flag("CALCULATE_RUNNING")
	r.rawAssoc, r.rawPart, r.rawQOS, r.rawTR = all || flag("NO_NORMAL_ASSOC"), all || flag("NO_NORMAL_PART"), all || flag("NO_NORMAL_QOS"), all || flag("NO_NORMAL_TRES")
	for _, n := range s.Nodes {
		r.nodes++
		r.cpus += n.CPUs
	}
	for _, p := range s.Partitions {
		r.topPart = max(r.topPart, p.Factor)
	}
	for _, q := range s.QOS {
		r.topQOS = max(r.topQOS, q.Priority)
	}
	for _, a := range s.byUser {
		r.topAssoc = max(r.topAssoc, a.Priority)
	}
	for part := range strings.SplitSeq(set["priorityweighttres"], ",") {
		name, value, ok := strings.Cut(part, "=")
		if w, err := strconv.ParseFloat(value, 64); ok && err == nil {
			r.weights.tres = append(r.weights.tres, resource{name: strings.ToLower(name), weight: w})
		}
	}
	order := []string{"cpu", "mem", "energy", "node", "billing", "gres/gpu"} // that of Slurm
	slices.SortStableFunc(r.weights.tres, func(a, b resource) int {
		return cmp.Compare(uint(slices.Index(order, a.name)), uint(slices.Index(order, b.name)))
	})
	if from := s.Submissions; from != nil && len(from.Usage) > 0 {
		r.decay(0)
		for _, u := range from.Usage {
			s.findUser(u.Account, u.User).add(u.Raw)
		}
		r.decay(math.Pow(r.keep, from.Decay))
	}
	r.rank()
	return r
}

// factors returns the factors of a job in a partition at a time. A factor without weight is 0, as for Slurm.
func (r *rules) factors(j *subject, p *partition, now int64) (f factors) {
	since := j.Accrue
	if r.always {
		since = j.Submit
	}
	if since > 0 && since < now {
		f.six[0] = min(1, float64(now-since)/float64(r.maxAge))
	}
	part := func(value, top int64, raw bool) float64 {
		if raw {
			return float64(value)
		}
		return float64(value) / float64(max(1, top))
	}
	if a := j.Assoc; a != nil {
		f.six[1], f.six[2] = part(a.Priority, r.topAssoc, r.rawAssoc), a.factor
	}
	f.six[3], f.six[4] = r.size(j), part(p.Factor, r.topPart, r.rawPart)
	if j.QOS != nil {
		f.six[5] = part(j.QOS.Priority, r.topQOS, r.rawQOS)
	}
	for i, w := range r.weights.six {
		if w == 0 {
			f.six[i] = 0
		}
	}
	for _, w := range r.weights.tres {
		w.value = float64(j.TRES[w.name])
		if !r.rawTR {
			w.value /= float64(max(1, p.Total[w.name]))
		}
		if w.value > 0 {
			f.tres = append(f.tres, w)
		}
	}
	return f
}

// size returns the factor of the job's size: of nodes and CPUs, over those of the cluster.
func (r *rules) size(j *subject) float64 {
	nodes, cpus := float64(j.Nodes), float64(cmp.Or(j.CPUs, j.TRES["cpu"]))
	allNodes, allCPUs := float64(max(1, r.nodes)), float64(max(1, r.cpus))
	switch {
	case r.byTime:
		size := max(nodes*allCPUs/allNodes, cpus) / float64(max(1, j.Limit/60)) / allCPUs
		if r.favorSmall {
			return 1 - size
		}
		return size
	case r.favorSmall:
		return ((allNodes-nodes)/allNodes + (allCPUs-cpus)/allCPUs) / 2
	}
	return (nodes/allNodes + cpus/allCPUs) / 2
}

// sum returns the sum of the weighted factors, less nice.
func (r *rules) sum(f *factors, nice int64) (sum float64) {
	for i, w := range r.weights.six {
		sum += w * f.six[i]
	}
	for _, t := range f.tres {
		sum += t.value * t.weight
	}
	return sum - float64(nice)
}

// priority returns the priority of a job in a partition: the sum, cut to an integer, at least 1.
func (r *rules) priority(j *subject, p *partition, now int64) int64 {
	f := r.factors(j, p, now)
	return cut(r.sum(&f, j.Nice))
}

func cut(sum float64) int64 { return int64(math.Min(math.Max(sum, 1), math.MaxUint32)) }
