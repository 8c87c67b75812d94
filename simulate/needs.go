package simulate

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/simulate/mig"
)

// needSets numbers the sets of pools that fulfil what jobs need of a GPU. Jobs whose needs differ, but
// whose pools do not, are in one class.
type needSets struct {
	stated bool // some pool states the memory of a GPU
	divide bool // some pool has MIG
	slows  bool // jobs that share a GPU slow each other down in some pool
	number map[string]int32
	fits   [][]bool // by number, then pool; number 0 is all pools
	buf    []byte
}

func newNeedSets(pools []Pool) (s needSets) {
	for i := range pools {
		s.stated = s.stated || pools[i].GPUMemMiB > 0
		s.divide = s.divide || pools[i].MIG != nil
		s.slows = s.slows || pools[i].Sharing != nil && len(pools[i].Sharing.Num) > 0
	}
	return s
}

// needsOf returns the number of the set of pools that fulfil what j needs; 0 is all pools.
func (cs *classes) needsOf(j *capcli.Job) int32 {
	s := &cs.needs
	if j.Shape == nil && !s.divide && (j.GPUMemMiB == 0 || !s.stated) {
		return 0
	}
	s.buf = s.buf[:0]
	all := true
	for i := range cs.e.c.pools {
		c := byte('1')
		if cs.e.c.pools[i].lacks(j) != "" {
			c, all = '0', false
		}
		s.buf = append(s.buf, c)
	}
	if all {
		return 0
	}
	n, known := s.number[string(s.buf)]
	if !known {
		if s.number == nil {
			s.number, s.fits = map[string]int32{}, [][]bool{nil}
		}
		fits := make([]bool, len(s.buf))
		for i, c := range s.buf {
			fits[i] = c == '1'
		}
		n = int32(len(s.fits))
		s.number[string(s.buf)], s.fits = n, append(s.fits, fits)
	}
	return n
}

func (s *needSets) fulfils(n int32, p int) bool { return n == 0 || s.fits[n][p] }

// lacks says what j needs of a GPU that p does not have; "" if it has all. A pool that does not state
// something does not fulfil a need of it, but any memory that a job takes fits.
func (p *Pool) lacks(j *capcli.Job) string {
	var n capcli.Needs
	if j.Shape != nil {
		n = j.Shape.Needs
	}
	switch {
	case n.GPUMemMiB > p.GPUMemMiB:
		return p.shortfall("GPU memory of at least "+gib(n.GPUMemMiB), gib(p.GPUMemMiB), p.GPUMemMiB > 0)
	case n.Capability > p.Capability:
		return p.shortfall("compute capability "+tenths(n.Capability), tenths(p.Capability), p.Capability > 0)
	case n.Interconnect != "" && !strings.EqualFold(n.Interconnect, p.Interconnect):
		return p.shortfall("interconnect "+n.Interconnect, p.Interconnect, p.Interconnect != "")
	case n.Profile != "":
		return p.lacksProfile(j, n.Profile)
	case p.MIG == nil:
	case j.GPUMilli > 0:
		return fmt.Sprintf("a share of a GPU without a profile, where pool %s divides its GPUs into instances", capcli.Quoted(p.Name))
	case j.GPUs > 0 && p.MIG.Layout != nil:
		return fmt.Sprintf("a whole GPU, where pool %s has a fixed layout of instances", capcli.Quoted(p.Name))
	}
	if p.GPUMemMiB > 0 && j.GPUMemMiB > p.GPUMemMiB {
		return fmt.Sprintf("%s on a GPU, where pool %s has %s", gib(j.GPUMemMiB), capcli.Quoted(p.Name), gib(p.GPUMemMiB))
	}
	return ""
}

// shortfall says that p has less of something than is wanted, or does not state it.
func (p *Pool) shortfall(want, has string, stated bool) string {
	if !stated {
		return fmt.Sprintf("%s, which pool %s does not state", want, capcli.Quoted(p.Name))
	}
	return fmt.Sprintf("%s, where pool %s has %s", want, capcli.Quoted(p.Name), has)
}

// lacksProfile is lacks for a job that wants an instance of a profile.
func (p *Pool) lacksProfile(j *capcli.Job, profile string) string {
	if p.MIG == nil {
		return fmt.Sprintf("MIG profile %s, where pool %s does not divide its GPUs", profile, capcli.Quoted(p.Name))
	}
	g, err := mig.Find(p.MIG.Table)
	if err != nil {
		return fmt.Sprintf("MIG profile %s, where pool %s has GPUs of an unknown table", profile, capcli.Quoted(p.Name))
	}
	i := g.Index(profile)
	switch {
	case j.GPUs != 1:
		return fmt.Sprintf("%d GPUs and a MIG profile, which is one instance", j.GPUs)
	case i < 0:
		return fmt.Sprintf("MIG profile %s, which %s of pool %s does not have", profile, g.Name, capcli.Quoted(p.Name))
	case j.GPUMemMiB > g.Profiles[i].MemMiB:
		return fmt.Sprintf("%s on an instance of %s, which has %s", gib(j.GPUMemMiB), profile, gib(g.Profiles[i].MemMiB))
	case p.MIG.Layout != nil && !hasFold(p.MIG.Layout, profile):
		return fmt.Sprintf("MIG profile %s, which is not in the layout of pool %s", profile, capcli.Quoted(p.Name))
	case p.MIG.Driver && g.Profiles[i].Driver == nil:
		return fmt.Sprintf("MIG profile %s, whose driver's order of starts is not documented, in pool %s", profile, capcli.Quoted(p.Name))
	}
	return ""
}

func hasFold(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// whyNeeds says which needs of l no pool fulfils that has its partition and model; "" if that is not why.
func (cs *classes) whyNeeds(l *Live) string {
	var all []string
	for i := range cs.e.c.pools {
		p := &cs.e.c.pools[i]
		why := p.lacks(&l.Job)
		if why == "" || !p.Serves(l.Partition, l.GPUModel) {
			continue
		}
		if len(all) == 3 {
			return "needs " + strings.Join(all, "; ") + " …"
		}
		all = append(all, why)
	}
	if len(all) == 0 {
		return ""
	}
	return "needs " + strings.Join(all, "; ")
}

// gib writes MiB for people.
func gib(mib int64) string {
	if mib%1024 == 0 {
		return fmt.Sprintf("%d GB", mib/1024)
	}
	return fmt.Sprintf("%.1f GB", float64(mib)/1024)
}

// tenths writes a number of tenths: 80 is 8.0.
func tenths(n int) string { return fmt.Sprintf("%d.%d", n/10, n%10) }

// wantProfile makes l, which arrives, want an instance if its shape names a profile.
func (cs *classes) wantProfile(l *Live) {
	n := &l.Shape.Needs
	if n.Profile == "" || l.GPUs != 1 || !cs.needs.divide {
		return
	}
	l.profile, l.GPUMilli = cs.e.c.profileNumber(n.Profile), mig.Milli(n.Profile)
}

// divide checks the pools with MIG and starts tracking single GPUs.
func (cs *classes) divide() error {
	for i := range cs.e.c.pools {
		if err := cs.e.c.pools[i].CheckMIG(); err != nil {
			return err
		}
	}
	cs.e.c.shareDevices(noJobs)
	return nil
}

// CheckMIG says what is wrong with the MIG of a pool; nil if nothing is.
func (p *Pool) CheckMIG() error {
	if p.MIG == nil {
		return nil
	}
	g, err := mig.Find(p.MIG.Table)
	if err != nil {
		return err
	}
	if p.Fluid() {
		return &capcli.RequestError{
			Text: fmt.Sprintf("pool %s has MIG on nodes of %d GPUs, but single GPUs are tracked up to %d a node", capcli.Quoted(p.Name), p.GPUsPerNode, maxLevel),
			Hint: "give nodes and gpus_per_node",
		}
	}
	mix, err := g.Read(p.MIG.Layout)
	if err != nil {
		return err
	}
	if p.MIG.Driver && !g.HasDriverOrder(mix) {
		return &capcli.RequestError{Text: "the driver's order of starts is documented for an A100 alone, without +me and double memory", Hint: "use order: lowest"}
	}
	if why := g.Check(mix); why != mig.Fits {
		return &capcli.RequestError{Text: fmt.Sprintf("the layout does not fit on one %s (%s): %s", g.Name, why, why.Explain(g)), Hint: "capcli mig fit tries a layout"}
	}
	if _, at := g.Line(mix, p.MIG.Driver); at >= 0 {
		return &capcli.RequestError{
			Text: fmt.Sprintf("the layout cannot be made in this order: number %d, %s, has no start left", at+1, g.Profiles[mix[at]].Name),
			Hint: g.OrderHint(mix, p.MIG.Driver),
		}
	}
	return nil
}
