package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/profile/accelerator"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/mig"
	"capcli/simulate/width"
)

// GPUKind is what a pool states of each of its GPUs.
type GPUKind struct {
	GPUMemMiB    int64 // 0 is not stated
	Capability   int   // in tenths; 0 is not stated
	Interconnect string
	MIG          *Division
	Sharing      *Sharing
}

// Division says how the GPUs of a pool are divided (MIG).
type Division struct {
	GPU     string   // table of profiles; "" is by the pool's model
	Layout  []string // profiles of every GPU, "1g.10gb=4" for four; none makes instances on demand
	Reslice capcli.Seconds
	Order   string // of starts: lowest or driver
}

// Sharing says what jobs lose that share a GPU.
type Sharing struct {
	Most     int
	Slowdown []string // factors on the run time with 1, 2, 3 … jobs, as decimals
}

// kindFields are the fields of a pool about each of its GPUs.
func kindFields(k *GPUKind) []strict.Field {
	return []strict.Field{
		{"gpu_mem_gb", "memory of each GPU in GiB, which jobs that share a GPU and state gpu_mem share; default: that of the model, where its name is clear", measure(&k.GPUMemMiB, 1024, 0.001, 1e5)},
		{"capability", "compute capability of the GPUs, such as 8.0; default: that of the model", readTenths(&k.Capability)},
		{"interconnect", "link between the GPUs of a node, such as nvlink or pcie; default: that of the model", strict.Name(&k.Interconnect)},
		{"mig", "its GPUs are divided into instances: {gpu: A100-80GB, layout: [1g.10gb=4, 3g.40gb], reslice: 30s}", divisionSection.Pointer(&k.MIG)},
		{"sharing", "what jobs lose that share a GPU: {most: 4, slowdown: [1, 1.1, 1.25]}", sharingSection.Pointer(&k.Sharing)},
	}
}

var divisionSection = strict.Section[Division]{Name: "mig", Fields: func(m *Division) []strict.Field {
	return []strict.Field{
		{"gpu", "table of profiles (capcli mig list): A100-80GB; default: the pool's gpu_model", strict.Choice(&m.GPU, "GPU with MIG", mig.Names()...)},
		{"layout", "profiles of every GPU, in the order in which they are made: [1g.10gb=4, 3g.40gb]; default: instances are made as jobs ask", strict.Names(&m.Layout, "profiles")},
		{"reslice", "time that a GPU without jobs takes to change its instances; default: an instance goes with its job, at once", strict.Duration(&m.Reslice, 0)},
		{"order", "where an instance starts: lowest (the lowest free start) or driver (as documented for an A100); default: lowest", strict.Choice(&m.Order, "order of starts", "lowest", "driver")},
	}
}}

var sharingSection = strict.Section[Sharing]{Name: "sharing", Fields: func(v *Sharing) []strict.Field {
	return []strict.Field{
		{"most", "most jobs on one GPU; default: as many as their shares allow", strict.Integer(&v.Most, 1, 255)},
		{"slowdown", "factors on the run time of a job with 1, 2, 3 … jobs on its GPU when it starts; the last holds for more: [1, 1.1, 1.25]", readFactors(&v.Slowdown)},
	}
}}

// readFactors reads a list of factors on run times.
func readFactors(dst *[]string) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		d.ReadList(n, 255, "factors", func(_ int, n *yaml.Node) {
			f := ""
			if decimal(&f, 1000)(d, n); f == "" {
				return
			}
			if r, err := width.ParseDecimal(f); err == nil && r.Cmp(big.NewRat(1, 1)) < 0 {
				d.Fault(n, "sharing a GPU makes no job faster: a factor on the run time is 1 or more")
				return
			}
			*dst = append(*dst, f)
		})
	}
}

// readTenths reads a number such as 8.0 as 80.
func readTenths(dst *int) strict.Reader {
	const form = "a compute capability such as 8.0"
	return strict.Value(dst, form, form, func(s string) (int, bool) {
		whole, part, dotted := strings.Cut(s, ".")
		if !dotted {
			part = "0"
		}
		v, err := strconv.Atoi(whole + part)
		return v, err == nil && len(part) == 1 && v >= 10 && v < 1000 && whole != ""
	})
}

// checkKind checks what the pool states of its GPUs.
func (c *Capacity) checkKind(o *strict.Object) {
	if m := c.MIG; m != nil && o.IsClean("mig") {
		if o.Has("nodes_file") || o.Has("sharing") {
			o.Fault("mig", "mig goes with neither nodes_file nor sharing")
			return
		}
		m.GPU = cmp.Or(m.GPU, c.GPUModel)
		if most := max(c.GPUsPerNode, c.GPUs); most > 64 && c.Nodes == 0 || c.GPUsPerNode > 64 || most == 0 {
			o.Fault("mig", "mig needs nodes and gpus_per_node of up to 64, because single GPUs are tracked")
			return
		}
		p := simulate.Pool{Name: c.Name, GPUsPerNode: 1}
		if err := c.divide(&p); err != nil {
			o.Fault("mig", "%s", faultText(err))
		}
	}
}

func faultText(err error) string {
	if r, is := errors.AsType[*capcli.RequestError](err); is && r.Hint != "" {
		return strings.TrimPrefix(r.Error(), "gpu ") + "; " + r.Hint
	}
	return err.Error()
}

// divide sets the MIG of p. It fails for a layout that cannot be.
func (c *Capacity) divide(p *simulate.Pool) error {
	m := c.MIG
	g, err := mig.Find(m.GPU)
	if err != nil {
		return err
	}
	mix, err := g.Read(m.Layout)
	if err != nil {
		return err
	}
	p.MIG = &simulate.MIG{Table: g.Name, Driver: m.Order == "driver", Reslice: m.Reslice}
	for _, i := range mix {
		p.MIG.Layout = append(p.MIG.Layout, g.Profiles[i].Name)
	}
	return p.CheckMIG()
}

// setKind sets what is known of the GPUs of p: as stated, else as the data sheet of its model says.
func (c *Capacity) setKind(p *simulate.Pool) error {
	p.GPUMemMiB, p.Capability, p.Interconnect = c.GPUMemMiB, c.Capability, c.Interconnect
	if c.MIG != nil {
		if err := c.divide(p); err != nil {
			return err
		}
	}
	if v := c.Sharing; v != nil {
		p.Sharing = &simulate.Sharing{Most: v.Most}
		for _, f := range v.Slowdown {
			r, err := width.ParseDecimal(f)
			if err != nil {
				return err
			}
			num, den := ratio(r)
			p.Sharing.Num, p.Sharing.Den = append(p.Sharing.Num, num), append(p.Sharing.Den, den)
		}
	}
	model, known := accelerator.Find(p.GPUModel)
	if !known {
		if c.MIG != nil && p.GPUMemMiB == 0 {
			g, err := mig.Find(c.MIG.GPU)
			if err != nil {
				return err
			}
			p.GPUMemMiB = g.MemMiB
		}
		return nil
	}
	if p.GPUMemMiB == 0 && isClear(p.GPUModel, model) {
		p.GPUMemMiB = model.MemMiB()
	}
	p.Capability = cmp.Or(p.Capability, model.Capability)
	p.Interconnect = cmp.Or(p.Interconnect, model.Link)
	return nil
}

// isClear reports whether a name of a model says how much memory it has: no other model of the table is
// the same with another size, or the name has the size.
func isClear(name string, m *accelerator.Model) bool {
	if strings.Contains(name, strconv.FormatInt(m.MemGB, 10)) {
		return true
	}
	return !slices.ContainsFunc(accelerator.Names(), func(other string) bool {
		rest, longer := strings.CutPrefix(other, m.Name+"-")
		return longer && strings.HasSuffix(rest, "GB") && strings.Trim(rest, "0123456789") == "GB"
	})
}

// smallest is the profile of a rule that gives each job that shares a GPU the smallest that holds it.
const smallest = "smallest"

// needFields are the fields of a shape about what its jobs need of a GPU.
func needFields(r *ShapeRule) []strict.Field {
	return []strict.Field{
		{"needs", "what its jobs need of a GPU: {gpu_mem_gb: 80, capability: 8.0, interconnect: nvlink}", needsSection.Reader(&r.Needs)},
		{"profile", "MIG profile of one instance that each of its jobs takes, such as 1g.10gb; smallest is the smallest that holds a job's share of a GPU and its memory", strict.Name(&r.Profile)},
	}
}

var needsSection = strict.Section[capcli.Needs]{Name: "needs", Fields: func(n *capcli.Needs) []strict.Field {
	return []strict.Field{
		{"gpu_mem_gb", "least memory of the GPU in GiB; a pool that states none does not do", measure(&n.GPUMemMiB, 1024, 0.001, 1e5)},
		{"capability", "least compute capability, such as 8.0", readTenths(&n.Capability)},
		{"interconnect", "link between the GPUs of a node, such as nvlink", strict.Name(&n.Interconnect)},
	}
}}

// checkNeeds refuses a profile that no pool can have. It takes the profile over into the needs.
func (s *Scenario) checkNeeds(o *strict.Object) {
	list := strict.Child(o.Node, "shapes")
	for i := range s.Shapes {
		r := &s.Shapes[i]
		if r.Profile == "" || list == nil || i >= len(list.Content) {
			continue
		}
		at := strict.Child(list.Content[i], "profile")
		if why := s.whyNoProfile(r.Profile); why != "" && at != nil {
			o.Decoder.Fault(at, "%s", why)
		}
		if r.Profile != smallest {
			r.Needs.Profile = r.Profile
		}
	}
}

// whyNoProfile says why no pool has instances of a profile; "" if one has.
func (s *Scenario) whyNoProfile(profile string) string {
	divided := false
	var names []string
	for i := range s.Capacity {
		m := s.Capacity[i].MIG
		if m == nil {
			continue
		}
		divided = true
		g, err := mig.Find(m.GPU)
		if err != nil || profile == smallest {
			return "" // the fault is named at the pool
		}
		if g.Index(profile) >= 0 {
			return ""
		}
		names = append(names, g.ProfileNames()...)
	}
	if !divided {
		return "no pool has mig, so no job can have an instance of a divided GPU"
	}
	slices.Sort(names)
	return fmt.Sprintf("no pool has GPUs with the profile %s: have %s%s", capcli.Quoted(profile), strings.Join(slices.Compact(names), ", "), capcli.DidYouMean(profile, names))
}

// smallestProfile returns the smallest profile of the pools that holds j's share of a GPU and its memory;
// "" if none does or j has no share.
func (s *Scenario) smallestProfile(j *capcli.Job) string {
	if j.GPUMilli == 0 || j.GPUs != 1 {
		return ""
	}
	best, size := "", new(big.Rat)
	for i := range s.Capacity {
		if s.Capacity[i].MIG == nil {
			continue
		}
		g, err := mig.Find(s.Capacity[i].MIG.GPU)
		if err != nil {
			continue
		}
		if p := g.Smallest(j.GPUMilli, j.GPUMemMiB); p >= 0 {
			part := big.NewRat(int64(g.Profiles[p].Memory)*g.MemMiB, int64(g.Memory))
			if best == "" || part.Cmp(size) < 0 {
				best, size = g.Profiles[p].Name, part
			}
		}
	}
	return best
}
