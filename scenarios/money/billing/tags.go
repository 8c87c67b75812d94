package billing

import (
	"cmp"
	"slices"

	"capcli"
	"capcli/simulate"
)

// TagCost is what the jobs with one value of one tag pay (chargeback).
type TagCost struct {
	capcli.Tag            // its Value is "" for the jobs that lack the tag
	Direct     capcli.USD // for what they held
	Share      capcli.USD // their share of what was paid for and nobody held
	Total      capcli.USD // Direct + Share
	ByTier     [3]capcli.USD
	Used       capcli.GPUTime // GPU time held
	Billed     capcli.GPUTime // Used plus what minimum billing times add
	Lost       capcli.GPUTime // part of Used: repeated work, checkpoints, restarts
}

func (c *TagCost) add(o *TagCost) {
	c.Direct += o.Direct
	c.Share += o.Share
	for i := range c.ByTier {
		c.ByTier[i] += o.ByTier[i]
	}
	c.Used += o.Used
	c.Billed += o.Billed
	c.Lost += o.Lost
}

// ByTags divides the invoice by each tag, in order of tag, then value. The values of each tag add
// up to Total, to the millionth of a dollar: jobs without the tag have the value "", which also
// bears Unallocated. It returns nil if no job has tags. rec is the record that was priced.
//
// Tags change no tenant's cost. What a tenant pays for a pool in a month is divided among its sets
// of tags: for what was held by billed time, for what nobody held by GPU time used. A tenant that
// held nothing of the pool in the month divides its share by its use of the pool over the run, and
// failing that by all its use.
func (inv *Invoice) ByTags(rec *simulate.Record) []TagCost {
	if len(rec.Payers) == 0 {
		return nil
	}
	d := newTagSplit(rec)
	inv.Parts(rec, d.part)
	var out []TagCost
	sets := capcli.Map(rec.Payers, func(x simulate.Payer) *capcli.Tags { return x.Tags })
	for _, name := range capcli.TagNames(sets) {
		byValue := map[string]*TagCost{}
		byValue[""] = &TagCost{Tag: capcli.Tag{Name: name}}
		byValue[""].add(&d.nobody)
		for i := range d.costs {
			value := ""
			if k := i - d.tenants; k >= 0 {
				value = sets[k].Value(name)
			}
			c := byValue[value]
			if c == nil {
				c = &TagCost{Tag: capcli.Tag{Name: name, Value: value}}
				byValue[value] = c
			}
			c.add(&d.costs[i])
		}
		for _, c := range byValue {
			c.Total = c.Direct + c.Share
			if c.Value != "" || c.Total != 0 || c.Billed != 0 {
				out = append(out, *c)
			}
		}
	}
	slices.SortFunc(out, func(a, b TagCost) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value)) })
	return out
}

// ByPayers returns the cost of each of Record.Payers, as ByTags divides it. A Name or Value is not set.
func (inv *Invoice) ByPayers(rec *simulate.Record) []TagCost {
	d := newTagSplit(rec)
	inv.Parts(rec, d.part)
	out := d.costs[d.tenants:]
	for i := range out {
		out[i].Total = out[i].Direct + out[i].Share
	}
	return out
}

// tagSplit divides the parts of an invoice among the jobs of a tenant: those without tags, and
// those with each set of tags. Element t of a list by payer is for the jobs of tenant t without
// tags, element tenants + k for Record.Payers[k].
type tagSplit struct {
	rec     *simulate.Record
	tenants int
	costs   []TagCost
	nobody  TagCost            // what no tenant can bear
	of      [][]int            // by tenant: its elements
	pools   [][]capcli.GPUTime // by pool, then element: use over the run
	month   int                // month and pool of use
	pool    int
	use     []simulate.Use // by element: use of the pool in the month
	cut     split
}

func newTagSplit(rec *simulate.Record) *tagSplit {
	d := &tagSplit{rec: rec, tenants: len(rec.Tenants), month: -1}
	n := d.tenants + len(rec.Payers)
	d.costs, d.use, d.of, d.pools = make([]TagCost, n), make([]simulate.Use, n), make([][]int, d.tenants), make([][]capcli.GPUTime, len(rec.Pools))
	for t := range d.of {
		d.of[t] = []int{t}
	}
	for k := range rec.Payers {
		t := rec.Payers[k].Tenant
		d.of[t] = append(d.of[t], d.tenants+k)
	}
	for p := range d.pools {
		d.pools[p] = make([]capcli.GPUTime, n)
		for m := range rec.Months {
			d.load(m, p)
			for i, u := range d.use {
				d.pools[p][i] += u.Used
				d.costs[i].Used += u.Used
				d.costs[i].Billed += u.Billed
				d.costs[i].Lost += u.Lost
			}
		}
	}
	return d
}

// load sets use to the use of pool p in month m.
func (d *tagSplit) load(m, p int) {
	if m == d.month && p == d.pool {
		return
	}
	d.month, d.pool = m, p
	clear(d.use)
	copy(d.use, d.rec.Untagged(m, p))
	if tagged := d.rec.Months[m].Tagged; tagged != nil {
		copy(d.use[d.tenants:], tagged[p])
	}
}

// part divides one part of the invoice.
func (d *tagSplit) part(x Part) {
	if x.Tenant < 0 {
		d.nobody.book(x.Tier, x.Unused, x.Cost)
		return
	}
	d.divide(&x, func(i int, cost capcli.USD) { d.costs[i].book(x.Tier, x.Unused, cost) })
}

// divide divides one part of the invoice, which has a tenant.
func (d *tagSplit) divide(x *Part, to func(i int, cost capcli.USD)) {
	d.load(x.Month, x.Pool)
	d.weigh(x)
	d.cut.lay(x.Cost, to)
}

// tenantOf returns the index of the tenant of element i.
func (d *tagSplit) tenantOf(i int) int {
	if i < d.tenants {
		return i
	}
	return d.rec.Payers[i-d.tenants].Tenant
}

func (d *tagSplit) tagsOf(i int) *capcli.Tags {
	if i < d.tenants {
		return nil
	}
	return d.rec.Payers[i-d.tenants].Tags
}

// jobTags returns FOCUS Tags: the tenant and the tags of jobs as JSON. A tag called tenant gives way
// to the tenant.
func jobTags(tenant string, tags *capcli.Tags) string {
	if tags == nil {
		return tagsOf(&Row{Tenant: tenant})
	}
	all := map[string]string{}
	for _, t := range tags.All() {
		all[t.Name] = t.Value
	}
	if tenant != "" {
		all["tenant"] = tenant
	}
	return jsonText(all)
}

func (c *TagCost) book(tier Tier, unused bool, cost capcli.USD) {
	if c.ByTier[tier] += cost; unused {
		c.Share += cost
	} else {
		c.Direct += cost
	}
}

// weigh sets the weights by which a part is divided among the jobs of its tenant.
func (d *tagSplit) weigh(x *Part) {
	for _, weight := range []func(i int) capcli.GPUTime{
		func(i int) capcli.GPUTime {
			if x.Unused {
				return d.use[i].Used
			}
			return d.use[i].Billed
		},
		func(i int) capcli.GPUTime { return d.pools[x.Pool][i] },
		func(i int) capcli.GPUTime { return d.costs[i].Used },
		func(i int) capcli.GPUTime { return capcli.GPUTime(max(0, d.tenants-i)) }, // a tenant without use has no tags to divide by
	} {
		d.cut.clear()
		for _, i := range d.of[x.Tenant] {
			d.cut.weigh(i, weight(i))
		}
		if len(d.cut.who) > 0 {
			return
		}
	}
}
