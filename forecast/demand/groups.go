package demand

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile"
)

// grouper finds the groups in which a job counts. With several keys these are the part, which is
// the combination of the values of all keys, and its sums: the value of each key, and the total.
// With one key it is the value of the key, and the total where the request asks for it.
type grouper struct {
	names []string                     // names of the keys
	keys  []func(j *capcli.Job) string // return the value of each key
	total bool                         // there is a total
	room  []byte                       // buffer
	known map[string][]string          // groups found so far, by the values of all keys
	tiers map[string]tier              // by group

	tags     []string     // names of the tags of the jobs, in order, if a key is a tag
	lastTags *capcli.Tags // of which tags has all
}

// tier says what a group is: the total, one value of one key, or a part.
type tier struct {
	key    int      // index of the key for one value of one key; -1 for a part, -2 for the total
	labels []string // values of the keys
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
		default:
			if tag := tagOfKey(k); tag != "" {
				k = tag
				key = func(j *capcli.Job) string { return g.tagOf(j, tag) }
			}
		}
		if slices.Contains(g.names, k) {
			continue
		}
		g.names, g.keys = append(g.names, k), append(g.keys, key)
	}
	g.total = g.total || len(g.keys) != 1
	return g
}

// tagOf returns the value of a tag of j, and remembers the tags that jobs have.
func (g *grouper) tagOf(j *capcli.Job, tag string) string {
	if j.Tags != nil && j.Tags != g.lastTags {
		g.lastTags = j.Tags
		for _, t := range j.Tags.All() {
			if at, has := slices.BinarySearch(g.tags, t.Name); !has {
				g.tags = slices.Insert(g.tags, at, t.Name)
			}
		}
	}
	return cmp.Or(j.Tags.Value(tag), capcli.NoTag)
}

// checkTags returns an error for a key that is a tag which no job has.
func (g *grouper) checkTags(by []string) error {
	for _, k := range by {
		tag := tagOfKey(k)
		if tag == "" || slices.Contains(g.tags, tag) {
			continue
		}
		have := slices.Concat(Keys, g.tags)
		hint := "have " + strings.Join(have, ", ") + capcli.DidYouMean(tag, have)
		if g.tags == nil {
			hint += "; no job has tags: --read tag=" + tag + " reads the column or label " + tag + " as one"
		}
		return &capcli.RequestError{Field: "by", Text: fmt.Sprintf(": unknown key %q", k), Hint: hint}
	}
	return nil
}

// keysOf returns the groups of a job. The strings have a meaning only for this grouper.
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

// partKeys returns the groups of the share of a device that a tenant holds; "" is nobody.
func (g *grouper) partKeys(host string, d *profile.Device, tenant string) []string {
	tenant = cmp.Or(tenant, "(nobody)")
	return g.keysOf(&capcli.Job{Partition: host, GPUModel: d.Model, Tenant: tenant})
}

// placeKeys returns the groups of a device that do not depend on the tenant.
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

// arrange adds the series in made, which are by group, to hs, the sums first, and sets their
// names and the hierarchy. The name of a series is the value of its key, or key=value where two
// series would have the same name. There is no hierarchy of peaks, because they do not add up.
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
	at := map[string]int{} // index in t.Sums, by tierName
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
		hs.Notes = append(hs.Notes, "peaks of parts do not sum to the peak of the whole: each series is forecast alone")
	default:
		hs.Tree = t
	}
}

// tierName returns an identifier of a group that is a sum.
func tierName(key int, labels []string) string {
	return strconv.Itoa(key) + "/" + strings.Join(labels, "/")
}

// count adds the next part to the parts of its sums.
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

// qualifiedName returns a name with the keys: key=value, joined by "/".
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
