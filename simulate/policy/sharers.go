package policy

import (
	"math"
	"strings"

	"capcli/simulate"

	"capcli"
)

// sharers is the tree of tenants for fair shares: tenant "a/b/u" is a child of "a/b".
// The use of a tenant includes that of its descendants.
type sharers struct {
	decay  float64 // per second
	byName map[string]*sharer
	list   []*sharer // in order of appearance
	root   sharer
	stale  bool // whether some weights are not set yet
}

// sharer is one tenant in the tree.
type sharer struct {
	name   string
	parent *sharer
	weight float64
	all    float64 // sum of its children's weights
	past   float64 // decayed past use in GPU-seconds, up to as
	as     capcli.Seconds
	milli  int64 // thousandths of GPUs held since as
}

func newSharers(halfLife capcli.Seconds) *sharers {
	return &sharers{decay: math.Ln2 / float64(halfLife), byName: map[string]*sharer{}}
}

// place returns the tenant called name. The first call adds it and its parents.
func (s *sharers) place(name string) *sharer {
	if h := s.byName[name]; h != nil {
		return h
	}
	h := &sharer{name: name, parent: &s.root, weight: 1}
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		h.parent = s.place(name[:i])
	}
	s.byName[name], s.list, s.stale = h, append(s.list, h), true
	return h
}

// weigh sets the weights that the run states; a tenant without one keeps 1.
func (s *sharers) weigh(stated func(name string) *simulate.Tenant) {
	if !s.stale {
		return
	}
	s.stale, s.root.all = false, 0
	for _, h := range s.list {
		h.all = 0
	}
	for _, h := range s.list {
		if t := stated(h.name); t != nil {
			h.weight = t.Weight
		}
		h.parent.all += h.weight
	}
}

// hold adds milli thousandths of GPUs to the holdings of a tenant and its parents.
func (s *sharers) hold(name string, milli int64, now capcli.Seconds) {
	for h := s.place(name); h != &s.root; h = h.parent {
		h.use(now, s.decay)
		h.milli += milli
	}
}

// use returns the use of h in GPUs: its holdings plus the decayed past use, in which a moment
// weighs 2^(-age/half-life). A constant holding of m GPUs has a past use of m.
func (h *sharer) use(now capcli.Seconds, decay float64) float64 {
	if dt := float64(now - h.as); dt > 0 {
		keep := math.Exp(-decay * dt)
		h.past = h.past*keep + float64(h.milli)/1000*(1-keep)/decay
		h.as = now
	}
	return float64(h.milli)/1000 + h.past*decay
}

// effective returns the effective use U of h and the share S that it is entitled to. Below the
// first level, part of its siblings' use counts too, so that a modest child of a greedy parent does
// not go first:
//
//	U = own + (parent's U - own) * weight / siblings' weight
//
// (Slurm, "Classic Fairshare Algorithm"). The tenant with the least U/S is furthest below its
// share; Slurm's factor is 2^(-U/S).
func (s *sharers) effective(h *sharer, now capcli.Seconds) (use, share float64) {
	own, part := h.use(now, s.decay), h.weight/h.parent.all
	if h.parent == &s.root {
		return own, part
	}
	above, share := s.effective(h.parent, now)
	return own + (above-own)*part, share * part
}
