package demand

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile"
)

// grouper gives the groups that a job counts in. With several keys those are the
// values of all keys together, and as their sums each value of each key and the
// total; with one key its value, and the total where that is asked for.
type grouper struct {
	names []string // of the keys
	keys  []func(j *capcli.Job) string
	total bool
	room  []byte
	known map[string][]string // groups by labels
	tiers map[string]tier
}

// tier is one group: the total, the value of one key, or a part.
type tier struct {
	key    int // of labels[0] where there is one label of several keys; -1 is a part, -2 the total
	labels []string
}

func newGrouper(by []string, total bool) *grouper {
	g := &grouper{total: total, known: map[string][]string{}, tiers: map[string]tier{}}
	for _, k := range by {
		key := func(j *capcli.Job) string { return j.Partition }
		switch k {
		case TotalName:
			g.total = true
			continue
		case "gpu_model":
			key = func(j *capcli.Job) string { return j.GPUModel }
		case "tenant":
			key = func(j *capcli.Job) string { return j.Tenant }
		case "class":
			key = func(j *capcli.Job) string { return j.Class }
		}
		if slices.Contains(g.names, k) {
			continue
		}
		g.names, g.keys = append(g.names, k), append(g.keys, key)
	}
	g.total = g.total || len(g.keys) != 1
	return g
}

// keysOf returns the groups of a job, by keys that are this grouper's own.
func (g *grouper) keysOf(j *capcli.Job) []string {
	const between = '\x1f'
	g.room = g.room[:0]
	for _, key := range g.keys {
		g.room = append(append(g.room, between), key(j)...)
	}
	if groups, seen := g.known[string(g.room)]; seen {
		return groups
	}
	var labels []string
	for _, key := range g.keys {
		labels = append(labels, cmp.Or(key(j), "(unnamed)"))
	}
	var groups []string
	put := func(name string, t tier) {
		groups = append(groups, name)
		g.tiers[name] = t
	}
	if g.total {
		put("t", tier{-2, nil})
	}
	if len(labels) > 1 {
		for k, l := range labels {
			put(strconv.Itoa(k)+string(between)+l, tier{k, []string{l}})
		}
	}
	if len(labels) > 0 {
		put("p"+string(between)+strings.Join(labels, string(between)), tier{-1, labels})
	}
	g.known[string(g.room)] = groups
	return groups
}

// partKeys returns the groups of what a tenant holds of a device.
func (g *grouper) partKeys(host string, d *profile.Device, tenant string) []string {
	if tenant == "" {
		tenant = "(nobody)"
	}
	return g.keysOf(&capcli.Job{Partition: host, GPUModel: d.Model, Tenant: tenant})
}

// placeKeys returns those of a device's groups that do not ask for the tenant.
func (g *grouper) placeKeys(host string, d *profile.Device) []string {
	var out []string
	for _, name := range g.keysOf(&capcli.Job{Partition: host, GPUModel: d.Model}) {
		t := g.tiers[name]
		if t.key == -2 || t.key >= 0 && g.names[t.key] != "tenant" || t.key == -1 && !slices.Contains(g.names, "tenant") {
			out = append(out, name)
		}
	}
	return out
}

// arrange names the series of the groups, the sums first, and says which are
// sums. A value's name is the value; where two would be called the same they are
// called key=value. Highest levels do not add up.
func (g *grouper) arrange(hs *Histories, made map[string]*History) {
	type named struct {
		tier
		h *History
	}
	var all []named
	for name, h := range made {
		all = append(all, named{g.tiers[name], h})
	}
	place := func(n named) int { // the total, the keys in their order, the parts
		if n.key == -1 {
			return len(g.keys)
		}
		return n.key
	}
	slices.SortFunc(all, func(a, b named) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), slices.Compare(a.labels, b.labels))
	})
	count := map[string]int{}
	if g.total {
		count[TotalName] = 1
	}
	for _, n := range all {
		if n.key == -2 {
			continue
		}
		count[strings.Join(n.labels, "/")]++
	}
	hs.ByName = true
	t := &Hierarchy{}
	at := map[string]int{} // of each sum, by its name here
	for _, n := range all {
		n.h.Name = strings.Join(n.labels, "/")
		switch {
		case n.key == -2:
			n.h.Name = TotalName
		case count[n.h.Name] > 1:
			n.h.Name = g.qualifiedName(n.tier)
		}
		hs.List = append(hs.List, n.h)
		if n.key == -1 {
			g.count(t, at, n.labels)
			t.Parts = append(t.Parts, n.h)
			continue
		}
		at[tierName(n.key, n.labels)] = len(t.Sums)
		t.Sums, t.PartsOf = append(t.Sums, n.h), append(t.PartsOf, nil)
	}
	switch {
	case len(t.Parts) == 0 || len(t.Sums) == 0:
	case hs.Peak:
		hs.Notes = append(hs.Notes, "highest levels of parts do not add up to that of the whole: each series is forecast alone")
	default:
		hs.Tree = t
	}
}

// tierName returns the key of a group that is a sum.
func tierName(key int, labels []string) string {
	return strconv.Itoa(key) + "/" + strings.Join(labels, "/")
}

// count puts the next part into its sums.
func (g *grouper) count(t *Hierarchy, at map[string]int, labels []string) {
	put := func(name string) {
		if i, ok := at[name]; ok {
			t.PartsOf[i] = append(t.PartsOf[i], len(t.Parts))
		}
	}
	put(tierName(-2, nil))
	if len(labels) > 1 {
		for k, l := range labels {
			put(tierName(k, []string{l}))
		}
	}
}

// qualifiedName returns a name that says the keys.
func (g *grouper) qualifiedName(t tier) string {
	if t.key >= 0 {
		return g.names[t.key] + "=" + t.labels[0]
	}
	out := make([]string, len(t.labels))
	for k, l := range t.labels {
		out[k] = g.names[k] + "=" + l
	}
	return strings.Join(out, "/")
}
