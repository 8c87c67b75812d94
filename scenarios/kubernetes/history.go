package kubernetes

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/simulate"
)

// History is the study as a history of GPUs: a pool is the flavor of its name, a tenant a ClusterQueue.
// It fails with *capcli.InputError if a flavor with a quota of GPUs has no pool.
func (s *Study) History(pools []simulate.Pool) (*simulate.History, error) {
	h := &simulate.History{Start: s.Start, End: s.Decided.Ended, Pools: pools}
	index := map[string]int{}
	for i := range pools {
		index[pools[i].Name] = i
	}
	reach := map[string][]int{} // pools of a queue
	tenant := map[string]int{}
	for i := range s.World.ClusterQueues {
		q := &s.World.ClusterQueues[i]
		tenant[q.Name] = len(h.Tenants)
		t := simulate.Tenant{Name: q.Name}
		if q.Weight != nil {
			t.Weight = *q.Weight
		}
		h.Tenants = append(h.Tenants, t)
		for _, f := range gpuFlavors(q.ResourceGroups) {
			p, ok := index[f.name]
			if !ok {
				return nil, &capcli.InputError{Field: "capacity", Text: fmt.Sprintf("the flavor %s has a quota of GPUs, and no pool is called so", capcli.Quoted(f.name)), Hint: "with kueue, each flavor is a pool of its name: capcli scenarios init --kueue"}
			}
			reach[q.Name] = append(reach[q.Name], p)
		}
	}
	for i := range s.World.Workloads {
		w, info := &s.World.Workloads[i], &s.Infos[i]
		gpus := asked(w)
		h.Jobs = append(h.Jobs, simulate.Past{
			ID: w.ID, Tenant: tenant[w.Queue], Partition: info.Namespace + "/" + info.LocalQueue, GPUs: int(gpus), Milli: 1000 * gpus,
			Submit: w.Arrival, Run: w.Duration, Pools: reach[w.Queue], HeldBefore: w.Holds != nil,
			Done: s.Decided.Jobs[i].State == kueue.Finished,
		})
		if j := &s.Decided.Jobs[i]; j.Impossible {
			h.Jobs[i].NeverFits = j.Why
		}
	}
	for i := range s.Stays {
		x := &s.Stays[i]
		j := &h.Jobs[x.Workload]
		stay := simulate.PastStay{From: x.From, To: x.To, Preempted: x.End == kueue.Preempt}
		held := int64(0)
		for _, u := range x.Uses {
			if p, ok := index[u.Flavor]; ok && IsGPU(u.Resource) && u.Amount > 0 {
				stay.Holds = append(stay.Holds, simulate.PastHold{Pool: p, Milli: 1000 * u.Amount})
				held += 1000 * u.Amount
			}
		}
		j.Stays = append(j.Stays, stay)
		j.Milli = held // fewer than asked for, where fewer pods start
	}
	slices.SortStableFunc(h.Jobs, func(a, b simulate.Past) int { return cmp.Compare(a.Submit, b.Submit) })
	return h, nil
}

// gpuFlavor is a flavor and its quota of GPUs.
type gpuFlavor struct {
	name string
	gpus int64
}

// gpuFlavors returns the flavors of some groups that have a quota of GPUs, in their order.
func gpuFlavors(groups []kueue.ResourceGroup) (out []gpuFlavor) {
	for _, g := range groups {
		for _, f := range g.Flavors {
			found := false
			var gpus int64
			for r, q := range f.Quota {
				if IsGPU(r) {
					found = true
					gpus += q.Nominal
				}
			}
			if found {
				out = append(out, gpuFlavor{f.Flavor, gpus})
			}
		}
	}
	return out
}

// flavorGPUs returns the quota of GPUs of all queues and cohorts by flavor, in order of names.
func (c *Cluster) flavorGPUs() []gpuFlavor {
	sums := map[string]int64{}
	add := func(groups []kueue.ResourceGroup) {
		for _, f := range gpuFlavors(groups) {
			sums[f.name] += f.gpus
		}
	}
	for i := range c.World.Cohorts {
		add(c.World.Cohorts[i].ResourceGroups)
	}
	for i := range c.World.ClusterQueues {
		add(c.World.ClusterQueues[i].ResourceGroups)
	}
	var out []gpuFlavor
	for i := range c.World.Flavors {
		if gpus, ok := sums[c.World.Flavors[i].Name]; ok {
			out = append(out, gpuFlavor{c.World.Flavors[i].Name, gpus})
		}
	}
	return out
}

// Scenario writes a scenario whose jobs are those of the request's objects: a pool for each flavor
// with a quota of GPUs, at its price. It fails with *capcli.InputError if there is none. seen returns
// the path of a file as the scenario names it.
func (c *Cluster) Scenario(q *Request, seen func(file string) string) ([]byte, error) {
	flavors := c.flavorGPUs()
	if len(flavors) == 0 {
		return nil, &capcli.InputError{Field: "ClusterQueue", Text: "no queue has a quota of GPUs", Hint: "capcli simulate --kueue without --out shows waits, use and preemptions"}
	}
	var b strings.Builder
	b.WriteString("# What the queues of these Kubernetes objects do, and what their GPUs cost. The objects are the rules:\n" +
		"# quotas, cohorts, preemption, priorities. Copy them, change a quota, and compare two scenarios.\n" +
		"capcli: scenario/v1\n")
	fmt.Fprintf(&b, "name: %s\n\nkueue:\n", ScenarioName(q.Files))
	fmt.Fprintf(&b, "  objects: [%s]\n", strings.Join(quoteAll(q.Files, seen), ", "))
	if q.EvictTime > 0 {
		fmt.Fprintf(&b, "  evict_time: %ds\n", q.EvictTime)
	}
	if q.Default > 0 {
		fmt.Fprintf(&b, "  duration: %ds\n", q.Default)
	}
	if q.Current {
		b.WriteString("  current: true\n")
	}
	b.WriteString("\n# A pool for each flavor, as large as the nominal quotas of its GPUs together. What it offers is paid for,\n" +
		"# used or not; gpus may be what there really is.\ncapacity:\n")
	for _, f := range flavors {
		price := "} # price: not known, in dollars for a GPU-hour; the flavor's annotation " + priceAnnotation + " may say it"
		if v, ok := c.Prices[f.name]; ok {
			price = ", price: " + v.Decimal() + "}"
		}
		fmt.Fprintf(&b, "  - {name: %q, kind: reserved, gpus: %d%s\n", f.name, f.gpus, price)
	}
	b.WriteString("\n# ClusterQueues are the tenants, with their quotas of GPUs. Without the section kueue these would be rules of the\n" +
		"# policies here, which know neither borrowing and lending limits, nested cohorts, flavor order, preemption within and\n" +
		"# between queues, nor topology.\n")
	rows := make([]string, 0, len(c.World.ClusterQueues))
	for i := range c.World.ClusterQueues {
		x := &c.World.ClusterQueues[i]
		var gpus int64
		for _, f := range gpuFlavors(x.ResourceGroups) {
			gpus += f.gpus
		}
		weight := ""
		if x.Weight != nil && *x.Weight > 0 {
			weight = fmt.Sprintf(", weight: %v", *x.Weight)
		}
		rows = append(rows, fmt.Sprintf("#  - {name: %q, quota: %d%s}\n", x.Name, gpus, weight))
	}
	b.WriteString("#tenants:\n" + strings.Join(rows, ""))
	return []byte(b.String()), nil
}

// ScenarioName returns the name of a scenario of some objects: that of the first file, without its
// endings.
func ScenarioName(files []string) string {
	name := path.Base(filepath.ToSlash(files[0]))
	for _, end := range []string{".gz", ".zst", ".json", ".yaml", ".yml"} {
		name = strings.TrimSuffix(name, end)
	}
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
	if name = strings.Trim(name, "-."); name == "" {
		return "kueue"
	}
	return name
}

func quoteAll(list []string, seen func(string) string) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, fmt.Sprintf("%q", seen(s)))
	}
	return out
}
