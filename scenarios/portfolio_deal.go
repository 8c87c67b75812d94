package scenarios

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/strict"
)

// rampStep is a change of a commitment from a day on: other units, commitment or price.
type rampStep struct {
	from   capcli.Time
	units  billing.Units
	commit capcli.USD
	price  Price
}

// exitTerms describe how a commitment ends before its term: with a fee, or by a sale.
type exitTerms struct {
	on   capcli.Time
	part int64 // millionths: the fee on what is yet to be paid, or the haircut of a sale
	flat capcli.USD
}

// deal is the terms of a contract beyond its first term.
type deal struct {
	ramp      []rampStep
	extend    rampStep
	extended  string // length of the extension; "" is none
	terminate *exitTerms
	resale    *exitTerms
}

func (x *deal) fields() []strict.Field {
	return []strict.Field{
		{"ramp", "steps up or down within the term: [{from: 2027-04-01, units: 128, price: 2.10}], each until the next", rampSection.List(&x.ramp, maxList, "ramp")},
		{"extend", "an option to extend that is used: {term: 6mo, price: 2.20}, from the end of the term on", extension(x)},
		{"terminate", "it is ended early: {on: 2027-09-01, fee: 50%, flat: 0}, a share of what was yet to be paid", exit(&x.terminate, "terminate", "fee", "share of what is yet to be paid")},
		{"resale", "the rest is sold: {on: 2027-09-01, haircut: 20%, flat: 0}, off its straight-line value", exit(&x.resale, "resale", "haircut", "share off the straight-line value of the rest")},
	}
}

func (s *rampStep) fields() []strict.Field {
	return []strict.Field{
		{"units", "instances or GPUs from then on; default: as before", thousandths((*int64)(&s.units))},
		{"gpus", "the same as units", thousandths((*int64)(&s.units))},
		{"price", "of a unit for an hour from then on; default: as before", price(&s.price)},
		{"commit", "plans: dollars of use at plan rates, an hour, from then on", money(&s.commit)},
	}
}

var rampSection = strict.Section[rampStep]{Name: "ramp", Start: rampStep{from: capcli.NoTime}, Needs: []string{"from"}, Fields: func(s *rampStep) []strict.Field {
	return append([]strict.Field{{"from", "first day of the step", instantOf(&s.from)}}, s.fields()...)
}, Check: func(o *strict.Object, _ *rampStep) {
	if !o.Has("units") && !o.Has("gpus") && !o.Has("price") && !o.Has("commit") {
		o.FaultMissing("units", "a step says what changes: units, price or commit")
	}
}}

func extension(x *deal) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		o := d.ReadObject(n, "extend", append([]strict.Field{{"term", "by how long: 6mo", term(&x.extended)}}, x.extend.fields()...))
		o.Require("term")
	}
}

func exit(dst **exitTerms, what, name, doc string) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		x := &exitTerms{on: capcli.NoTime}
		o := d.ReadObject(n, what, []strict.Field{
			{"on", "first day without it", instantOf(&x.on)},
			{name, doc, share(&x.part)},
			{"flat", "a fee beside it", money(&x.flat)},
		})
		o.Require("on", name)
		*dst = x
	}
}

// deals returns the commitments of a contract, all with one ID: one for each step of its ramp and
// one for its extension, ended early where the file says so. It reports false after a fault.
func (c *bought) deals(o *strict.Object) ([]billing.Commitment, bool) {
	x := &c.deal
	if len(x.ramp) == 0 && x.extended == "" && x.terminate == nil && x.resale == nil {
		return []billing.Commitment{c.commitment}, true
	}
	if c.leave.IsKnown() {
		o.FaultName("escape", "escape goes with a commitment of one term; say with terminate or resale how this one ends")
		return nil, false
	}
	parts, ok := c.steps(o)
	if !ok {
		return nil, false
	}
	switch {
	case x.terminate != nil && x.resale != nil:
		o.FaultName("resale", "terminate and resale both end it; leave one out")
		return nil, false
	case x.terminate != nil:
		return c.exitLeft(o, parts, "terminate", x.terminate)
	case x.resale != nil:
		return c.exitLeft(o, parts, "resale", x.resale)
	}
	return parts, true
}

// steps divides the term at the steps of the ramp and adds the extension.
func (c *bought) steps(o *strict.Object) ([]billing.Commitment, bool) {
	x := &c.deal
	if len(x.ramp) > 0 && (o.Has("upfront") || o.Has("hourly") || o.Has("monthly") || c.machine() != nil) {
		o.FaultName("ramp", "a ramp changes price or commit; give the first step a price rather than upfront, hourly, monthly or machine")
		return nil, false
	}
	steps := slices.Clone(x.ramp)
	slices.SortStableFunc(steps, func(a, b rampStep) int { return cmp.Compare(a.from, b.from) })
	end := c.commitment.End
	for i, s := range steps {
		if s.from <= c.commitment.Start || s.from >= end || i > 0 && s.from == steps[i-1].from {
			o.FaultName("ramp", "a step begins on %s; want days of their own after %s and before %s", s.from, c.commitment.Start, end)
			return nil, false
		}
	}
	if x.extended != "" {
		last := x.extend
		last.from = end
		steps, end = append(steps, last), addTerm(end, x.extended)
	}
	now := *c
	now.commitment.End = end
	if len(steps) > 0 {
		now.commitment.End = steps[0].from
	}
	var out []billing.Commitment
	for i := 0; ; i++ {
		if !now.priced(o) {
			return nil, false
		}
		out = append(out, now.commitment)
		if i == len(steps) {
			return out, true
		}
		now.step(&steps[i])
		now.commitment.Start, now.commitment.End = steps[i].from, end
		if i+1 < len(steps) {
			now.commitment.End = steps[i+1].from
		}
	}
}

// step applies the changes of a step.
func (c *bought) step(s *rampStep) {
	if s.units > 0 && c.form.Units != nil {
		*c.form.Units = s.units
	}
	if s.commit > 0 && c.form.Commit != nil {
		*c.form.Commit = s.commit
	}
	if s.price.Known {
		c.price = s.price
	}
}

// exitLeft ends a contract on the day of x. The part in effect on that day ends with its fee; later
// parts add theirs, since nothing of them was used.
func (c *bought) exitLeft(o *strict.Object, parts []billing.Commitment, field string, x *exitTerms) ([]billing.Commitment, bool) {
	i := slices.IndexFunc(parts, func(k billing.Commitment) bool { return k.Start < x.on && x.on <= k.End })
	if i < 0 || i == len(parts)-1 && x.on == parts[i].End {
		o.FaultName(field, "it runs from %s to %s; it can be left between, not on %s", parts[0].Start, parts[len(parts)-1].End, x.on)
		return nil, false
	}
	flat := x.flat
	for _, later := range parts[i+1:] {
		total, err := later.Total()
		if err != nil {
			o.FaultName(field, "%v", err)
			return nil, false
		}
		flat += billing.Share(total, x.part, 1_000_000)
	}
	k := &parts[i]
	if x.on == k.End { // exactly between two steps: only later parts are given up
		k.Exit = billing.Exit{Term: parts[len(parts)-1].End, Cash: flat, Loss: flat}
		return parts[:i+1], true
	}
	leave := k.Terminate
	if field == "resale" {
		leave = k.Resell
	}
	left, err := leave(x.on, x.part, flat)
	if err != nil {
		o.FaultName(field, "%v", err)
		return nil, false
	}
	left.Exit.Term = parts[len(parts)-1].End
	return append(parts[:i:i], left), true
}
