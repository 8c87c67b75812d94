package scenarios

import (
	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
)

// Kueue says that jobs are the workloads of Kubernetes objects, and that Kueue's rules decide on them.
// The pools of the scenario are the flavors: what they cost.
type Kueue struct {
	Objects   []string       // files of objects, relative to Scenario.Dir
	EvictTime capcli.Seconds // from preemption until the pods are gone
	Default   capcli.Seconds // of workloads of which nothing says how long they last; 0 refuses them
	Current   bool           // begin with what workloads hold now
}

// KueuePolicy is the name of the policy of a scenario whose jobs Kueue decides on.
const KueuePolicy = "kueue"

func kueueFields(k *Kueue) []strict.Field {
	return []strict.Field{
		{"objects", "files of Kubernetes objects, relative to this file", func(d *strict.Decoder, n *yaml.Node) {
			if n.Kind == yaml.ScalarNode {
				k.Objects = []string{""}
				file(&k.Objects[0])(d, n)
				return
			}
			strict.List(&k.Objects, maxList, "files", file)(d, n)
		}},
		{"evict_time", "from preemption until the pods are gone", strict.Duration(&k.EvictTime, 0)},
		{"duration", "of workloads of which nothing says how long they last", strict.Duration(&k.Default, 1)},
		{"current", "begin with what the Workloads hold now", strict.Bool(&k.Current)},
	}
}

// readKueue reads the name of a file, or the section.
func readKueue(dst **Kueue) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		k := &Kueue{}
		*dst = k
		if n.Kind == yaml.ScalarNode {
			k.Objects = []string{""}
			file(&k.Objects[0])(d, n)
			return
		}
		d.ReadObject(n, "kueue", kueueFields(k)).Require("objects")
	}
}

// checkKueue adds a fault for each field that the objects decide instead.
func (s *Scenario) checkKueue(o *strict.Object) {
	if s.Kueue == nil {
		return
	}
	for _, name := range []string{"period", "policy", "placement", "overflow", "preemption", "priority_classes", "each_tenant"} {
		if o.Has(name) {
			o.FaultName(name, "kueue and %s both say how jobs run; leave one out", name)
		}
	}
	if s.Jobs.Generate != nil {
		o.FaultName("jobs", "kueue and jobs.generate both say where the jobs come from; leave one out")
	}
	for i := range s.Capacity {
		if c := &s.Capacity[i]; !c.Kind.Committed() {
			o.FaultName("kueue", "the pool %s is %s; with kueue, pools are flavors, and owned or reserved", c.Name, c.Kind)
		}
	}
}
