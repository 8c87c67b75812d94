package scenarios

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/width"
)

// micro is the unit of what jobs share: see simulate.Shared.
const micro = 1e6

// sharedFields are the fields of a pool about what its running jobs share beside GPUs.
func sharedFields(c *Capacity) []strict.Field {
	return []strict.Field{
		{"store_gib_per_s", "bandwidth of the storage that its running jobs share, in GiB a second; default: without limit", measure(&c.Store, micro, 0.001, 1e6)},
		{"host_cpus", "CPUs of each node that its running jobs share, as far as they state uses; default: without limit", measure(&c.HostCPUs, micro, 0.001, 1e6)},
		{"host_gib_per_s", "bandwidth of the memory of each node that its running jobs share, in GiB a second; default: without limit", measure(&c.HostMem, micro, 0.001, 1e6)},
		{"net_gib_per_s", "bandwidth out of each node, rack or other domain that its running jobs share, in GiB a second: {node: 50, rack: 200}", levelNumbers(&c.Net, "bandwidths by level such as {node: 50, rack: 200}")},
	}
}

// sharesNodes returns the first field that says what the jobs of one node share; "" if none does.
func (c *Capacity) sharesNodes() string {
	switch {
	case c.HostCPUs > 0:
		return "host_cpus"
	case c.HostMem > 0:
		return "host_gib_per_s"
	case len(c.Net) > 0:
		return "net_gib_per_s"
	}
	return ""
}

// checkShared checks that the pool has the nodes and the domains that share something.
func (c *Capacity) checkShared(o *strict.Object) {
	name := c.sharesNodes()
	if name != "" && c.Nodes == 0 && c.NodesFile == "" && c.Topology == "" && o.IsClean("nodes", "gpus", "gpus_per_node") {
		o.FaultName(name, "%s is of nodes: give nodes and gpus_per_node", name)
	}
	levels := []string{simulate.NodeLevel}
	for _, d := range c.Domains {
		levels = append(levels, d.Level)
	}
	for _, x := range c.Net {
		if !slices.Contains(levels, x.level) {
			o.Fault("net_gib_per_s", "the pool has no domains of level %s: have %s%s", capcli.Quoted(x.level), strings.Join(levels, ", "), capcli.DidYouMean(x.level, levels))
		}
	}
}

// shared returns what the running jobs of the pool share.
func (c *Capacity) shared() (out []simulate.Shared) {
	for _, x := range []simulate.Shared{
		{Kind: capcli.SharedStore, Micro: c.Store},
		{Kind: capcli.SharedCPU, Level: simulate.NodeLevel, Micro: c.HostCPUs},
		{Kind: capcli.SharedMem, Level: simulate.NodeLevel, Micro: c.HostMem},
	} {
		if x.Micro > 0 {
			out = append(out, x)
		}
	}
	for _, x := range c.Net {
		out = append(out, simulate.Shared{Kind: capcli.SharedNet, Level: x.level, Micro: max(1, microOf(x.number))})
	}
	return out
}

// microOf returns a decimal of at most a million in millionths, rounded up.
func microOf(text string) int64 {
	r, err := width.ParseDecimal(text)
	if err != nil || r.Sign() < 0 {
		return -1
	}
	up, rest := new(big.Int).DivMod(new(big.Int).Mul(r.Num(), big.NewInt(micro)), r.Denom(), new(big.Int))
	if up.Add(up, big.NewInt(int64(rest.Sign()))); !up.IsInt64() {
		return -1
	}
	return up.Int64()
}

// UseRule says what a job takes of one kind that running jobs share. One of Each, All and Tag is set.
type UseRule struct {
	Each, All int64  // of each of its GPUs, or of the job: millionths
	Tag       string // tag of the job that says how much it takes in all
	Share     int64  // of its run time that gets longer where it is granted less, in millionths
}

// useRules are the rules of a shape, by kind.
type useRules [capcli.SharedKinds]UseRule

// mostUse is the most of a kind that one GPU takes.
const mostUse = 10_000

var usesSection = strict.Section[useRules]{Name: "shapes.uses", Fields: func(u *useRules) (out []strict.Field) {
	for k, doc := range [...]string{
		capcli.SharedStore: "bandwidth of the storage that each of its GPUs takes at full speed, in GiB a second",
		capcli.SharedCPU:   "CPUs that each of its GPUs keeps busy at full speed",
		capcli.SharedMem:   "bandwidth of the memory of its node that each of its GPUs takes at full speed, in GiB a second",
		capcli.SharedNet:   "bandwidth out of its node, rack or other domain that each of its GPUs takes at full speed, in GiB a second",
	} {
		doc += ": 2, or {each: 2, share: 30%}, {all: 16}, {tag: NAME}"
		out = append(out, strict.Field{capcli.SharedKind(k).String(), doc, readUse(&u[k])})
	}
	return out
}}

var useSection = strict.Section[UseRule]{Name: "shapes.uses.use", Fields: func(u *UseRule) []strict.Field {
	return []strict.Field{
		{"each", "what each of its GPUs takes", measure(&u.Each, micro, 1/micro, mostUse)},
		{"all", "what the job takes, divided over its GPUs", measure(&u.All, micro, 1/micro, 1e6)},
		{"tag", "name of a tag of each job that says what the job takes; a job without it takes nothing", strict.Name(&u.Tag)},
		{"share", "share of its run time that depends on it; default: 100%", share(&u.Share)},
	}
}, Check: func(o *strict.Object, u *UseRule) {
	given := slices.DeleteFunc([]string{"each", "all", "tag"}, func(name string) bool { return !o.Has(name) })
	switch {
	case len(given) == 0:
		o.FaultMissing("each", "how much? give each, all or tag: {each: 2, share: 30%%}")
	case len(given) > 1:
		o.FaultName(given[1], "%s and %s both say how much; leave one out", given[0], given[1])
	}
}}

// readUse reads what each GPU takes, or the section.
func readUse(dst *UseRule) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		dst.Share = micro
		if n.Kind == yaml.ScalarNode {
			measure(&dst.Each, micro, 1/micro, mostUse)(d, n)
			return
		}
		useSection.Read(d, n, dst)
	}
}

// giveUses gives j what it takes by a rule. It fails where a tag says no number.
func (b *shapeBook) giveUses(j *capcli.Job, r *ShapeRule) error {
	var uses capcli.Uses
	for k := range r.Uses {
		u := &r.Uses[k]
		each, all := u.Each, u.All
		if text := j.Tags.Value(u.Tag); u.Tag != "" && text != "" {
			if all = microOf(text); all < 0 || all > micro*1_000_000 {
				return &capcli.InputError{
					File: b.of.File, Line: r.line, Field: "shapes." + r.Name + ".uses." + capcli.SharedKind(k).String() + ".tag",
					Text: fmt.Sprintf("expected a number of 0 to 1,000,000 in tag %s of job %s, found %s", u.Tag, j.ID, capcli.Quoted(text)),
				}
			}
		}
		if all > 0 {
			gpus := int64(max(1, j.GPUs))
			if each = (all + gpus - 1) / gpus; j.GPUMilli > 0 { // of a whole GPU: the job takes its share of that
				each = each * 1000 / int64(j.GPUMilli)
			}
		}
		if each > 0 {
			uses[k] = capcli.Use{Each: min(each, mostUse*micro), Share: u.Share}
		}
	}
	if uses == (capcli.Uses{}) {
		return nil
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.uses[uses] == nil {
		b.uses[uses] = &uses
	}
	j.Uses = b.uses[uses]
	return nil
}
