// Package emit writes what a plan says to have as the objects of the systems that hold capacity: quotas of
// Kueue, node pools of Karpenter, limits of Slurm, reservations for Terraform.
//
// Each text begins with comments: which plan its numbers come from, what that plan leaves unserved, and what
// is left to fill in. A number that the plan does not state is never guessed. Where the format needs one
// it is 0, which gives nothing away, with FILL IN beside it.
package emit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/joint"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/money/prices"
)

// Request is what to write, of which plan.
type Request struct {
	File     string              // name of the plan's document
	Text     []byte              // the document, as capcli plan -o json writes it
	As       string              // a name of Targets
	Scenario *scenarios.Scenario // with the choices of the plan; nil is none
	Price    *prices.Quote       // of the machine that the GPUs are in; nil is not known
	At       capcli.Time         // quotas are those of this day; NoTime is the first of the plan
}

// Plan is what to have, in the terms of no system.
type Plan struct {
	Facts   []string // where its numbers come from, and how sure they are
	Warning []string // what was not served, and what is not in the numbers
	Pools   []Pool
	Tenants []Tenant
}

// Pool is capacity of one kind.
type Pool struct {
	Name, Model string
	Terms       string // owned, reserved, on_demand or spot
	GPUs        int64  // 0 is without a limit
	Later       bool   // not held yet on the day of the quotas
	From, Until string // days, or ""
	Source      string // where the number stands
	Machine     prices.Row
}

// Elastic reports whether the pool is paid for only while it is held.
func (p *Pool) Elastic() bool { return p.Terms == "on_demand" || p.Terms == "spot" }

// Tenant is a tenant with its share of what is committed.
type Tenant struct {
	Name   string
	Weight float64
	Quota  int64 // most GPUs at once; 0 is any number
}

// Target writes a plan for one system.
type Target func(w io.Writer, p *Plan) error

// Targets are the systems.
var Targets = capcli.Catalog[Target]{Kind: "system"}

// Write writes what the plan of q says for the system q.As. It returns what must be said beside it. It fails
// with a *capcli.ResultError where the plan has nothing that could be written.
func (q *Request) Write(w io.Writer) ([]string, error) {
	target, err := Targets.Get(q.As)
	if err != nil {
		return nil, err
	}
	p, err := q.Plan()
	if err != nil {
		return nil, err
	}
	return p.Warning, target(w, p)
}

// Choices returns the changes of the scenario that a plan of mixes chose, as PATH=VALUE; none of another
// document.
func (q *Request) Choices() ([]string, error) {
	var r struct {
		Best *struct{ Choices []mix.Choice }
	}
	if err := q.decode(&r); err != nil {
		return nil, err
	}
	var out []string
	if r.Best != nil {
		for _, c := range r.Best.Choices {
			out = append(out, c.Path+"="+c.Value)
		}
	}
	return out, nil
}

// Plan reads the document.
func (q *Request) Plan() (*Plan, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(q.Text, &head); err != nil {
		return nil, q.refuse("found " + err.Error())
	}
	readers := map[string]func(*Plan) error{
		"capcli/plan_mix/v1": q.readMix, "capcli/plan_futures/v1": q.readFutures,
		"capcli/plan_joint/v1": q.readJoint, "capcli/plan/v1": q.readCurve,
	}
	read := readers[head.Schema]
	if read == nil {
		return nil, q.refuse(fmt.Sprintf("found schema %q", head.Schema))
	}
	p := &Plan{Facts: []string{fmt.Sprintf("from %s (%s)", q.File, head.Schema)}}
	if err := read(p); err != nil {
		return nil, err
	}
	q.addScenario(p)
	if q.Price != nil {
		for i := range p.Pools {
			if m := p.Pools[i].Model; m != "" && !strings.EqualFold(m, q.Price.GPU) {
				return nil, &capcli.RequestError{Field: "price", Text: fmt.Sprintf("names a machine with %s, but %s of the plan has %s", q.Price.GPU, p.Pools[i].Name, m), Hint: "capcli prices list --gpu " + capcli.ShellWord(m)}
			}
			if p.Pools[i].Machine.Provider == "" {
				p.Pools[i].Machine = q.Price.Row
				p.Pools[i].Model = cmp.Or(p.Pools[i].Model, q.Price.GPU)
			}
		}
	}
	if len(p.Pools) == 0 {
		return nil, &capcli.ResultError{Kind: capcli.NoPlan, Text: q.File + " commits to no GPUs and names no others: there is nothing to write", Hint: "of a plan of mixes, --scenario names its on-demand and spot pools too"}
	}
	q.nameOnce(p)
	return p, nil
}

func (q *Request) refuse(found string) error {
	return &capcli.InputError{File: q.File, Text: "expected a plan of capcli plan mix, curve, futures or joint, " + found, Hint: "write one with capcli plan … -o json --out plan.json"}
}

// decode reads the document into v. A plan written by another version may lack members; none is needed.
func (q *Request) decode(v any) error {
	if err := json.Unmarshal(q.Text, v); err != nil {
		return q.refuse("found " + err.Error())
	}
	return nil
}

func (q *Request) readMix(p *Plan) error {
	var r struct {
		Scenario string
		Best     *struct {
			Choices  []mix.Choice
			Cost     *capcli.USD `json:"cost_usd"`
			Unserved *float64    `json:"unserved_share"`
			Jobs     *float64    `json:"unserved_jobs"`
			Held     *float64    `json:"held_share"`
			Bills    *struct {
				Bought []mix.Commitment
			} `json:"commitments"`
		}
		Limits  []mix.Limit
		Buys    []mix.Bought
		Partial string
	}
	if err := q.decode(&r); err != nil {
		return err
	}
	if r.Best == nil {
		return &capcli.ResultError{Kind: capcli.NoPlan, Text: q.File + " has no best mix: no mix holds its limits, or none can be priced", Hint: "capcli explain " + capcli.ShellWord(q.File)}
	}
	for _, c := range r.Best.Choices {
		p.Facts = append(p.Facts, "best mix of "+r.Scenario+": "+c.Path+" = "+c.Value)
	}
	if r.Partial != "" {
		p.Warning = append(p.Warning, "the plan is not finished: "+r.Partial)
	}
	if s := r.Best.Unserved; s != nil && *s > 0 {
		text := fmt.Sprintf("this plan leaves %.3g%% of the work unserved", *s*100)
		if r.Best.Jobs != nil && *r.Best.Jobs > 0 {
			text += fmt.Sprintf(" (%.4g jobs)", *r.Best.Jobs)
		}
		p.Warning = append(p.Warning, text)
	}
	if r.Best.Held != nil && *r.Best.Held < 1 {
		p.Warning = append(p.Warning, fmt.Sprintf("the plan's limits hold in %.3g%% of its runs", *r.Best.Held*100))
	}
	if r.Best.Bills != nil {
		for i, b := range r.Best.Bills.Bought {
			p.Pools = append(p.Pools, Pool{
				Name: cmp.Or(b.Pool, b.Term, b.Offer), Model: b.Model, Terms: "reserved", GPUs: b.GPUs, From: b.Start.Date(), Until: b.End.Date(),
				Source: fmt.Sprintf("commitments.bought[%d] of the best mix, which cover what is on demand", i),
			})
		}
		q.holdAt(p)
	}
	for i, b := range r.Buys {
		terms := "reserved"
		if b.Terms == "owned" {
			terms = "owned"
		}
		if b.GPUs > 0 {
			p.Pools = append(p.Pools, Pool{Name: b.Pool, Model: b.Model, Terms: terms, GPUs: b.GPUs, Source: strings.TrimSpace(fmt.Sprintf("buys[%d] of the plan: %s %s", i, b.Terms, b.Term))})
		}
	}
	return nil
}

func (q *Request) readFutures(p *Plan) error {
	var r futures.Result
	if err := q.decode(&r); err != nil {
		return err
	}
	if r.WaitingWhy != "" {
		p.Warning = append(p.Warning, r.WaitingWhy)
	}
	p.Facts = append(p.Facts, fmt.Sprintf("%d futures, risk: %s; on demand beyond the purchases", r.Futures.Count, r.Risk))
	return q.addPurchases(p, r.Optimum.Purchases, "optimum.purchases")
}

func (q *Request) readCurve(p *Plan) error {
	var r curve.Result
	if err := q.decode(&r); err != nil {
		return err
	}
	p.Facts = append(p.Facts, "demand "+r.Demand.Input+"; on demand beyond the purchases")
	return q.addPurchases(p, r.Optimum.Purchases, "optimum.purchases")
}

// addPurchases adds a pool for each purchase, and one for what is served on demand.
func (q *Request) addPurchases(p *Plan, list []market.Purchase, where string) error {
	for i, b := range list {
		pool := Pool{Name: b.Term, Terms: "reserved", GPUs: p.wholeGPUs(b.GPUs, fmt.Sprintf("%s[%d]", where, i)), Source: fmt.Sprintf("%s[%d], term %s", where, i, b.Term)}
		if b.Start.Dated() {
			pool.From, pool.Until = b.Start.Time.Date(), b.End.Time.Date()
		}
		p.Pools = append(p.Pools, pool)
	}
	q.holdAt(p)
	p.Pools = append(p.Pools, Pool{Name: "on-demand", Terms: "on_demand", Source: "demand beyond the purchases; the plan states no limit"})
	return nil
}

func (q *Request) readJoint(p *Plan) error {
	var r joint.Result
	if err := q.decode(&r); err != nil {
		return err
	}
	if r.Gap > 0 {
		p.Facts = append(p.Facts, fmt.Sprintf("at most %.3g%% above the cheapest plan", r.Gap*100))
	}
	for i, b := range r.Purchases {
		if b.GPUs == nil {
			p.Facts = append(p.Facts, fmt.Sprintf("purchases[%d] (%s) commits to dollars an hour: it brings no capacity", i, b.Offer))
			continue
		}
		pool := Pool{Name: b.Offer, Terms: "reserved", GPUs: p.wholeGPUs(*b.GPUs, fmt.Sprintf("purchases[%d]", i)), Source: fmt.Sprintf("purchases[%d], %s", i, b.Offer)}
		if b.Product == "owned" {
			pool.Terms = "owned"
		}
		if b.Model != nil {
			pool.Model = *b.Model
		}
		pool.From, pool.Until = dayOf(b.Start), dayOf(b.End)
		p.Pools = append(p.Pools, pool)
	}
	q.holdAt(p)
	for _, m := range r.Models {
		if m.OnDemand > 0 {
			p.Pools = append(p.Pools, Pool{Name: "on-demand " + m.Name, Model: m.Name, Terms: "on_demand", Source: fmt.Sprintf("%.6g GPU-hours of %s beyond the purchases; the plan states no limit", m.OnDemand, m.Name)})
		}
	}
	return nil
}

func dayOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return ""
}

// wholeGPUs rounds up: half a GPU cannot be reserved.
func (p *Plan) wholeGPUs(gpus float64, where string) int64 {
	whole := math.Ceil(gpus - 1e-9)
	if whole-gpus > 1e-9 {
		p.Facts = append(p.Facts, fmt.Sprintf("%s has %s GPUs, rounded up to %.0f", where, strconv.FormatFloat(gpus, 'f', -1, 64), whole))
	}
	return int64(whole)
}

// holdAt marks the purchases that are not held on the day of the quotas.
func (q *Request) holdAt(p *Plan) {
	day, dated := "", false
	if q.At.IsKnown() {
		day = q.At.Date()
	}
	for i := range p.Pools {
		if from := p.Pools[i].From; from != "" {
			dated = true
			if !q.At.IsKnown() && (day == "" || from < day) {
				day = from
			}
		}
	}
	if !dated {
		if len(p.Pools) > 1 {
			p.Warning = append(p.Warning, "the plan has no dates: its purchases are taken as held together")
		}
		return
	}
	p.Facts = append(p.Facts, "quotas are those of "+day)
	for i := range p.Pools {
		b := &p.Pools[i]
		if b.Later = b.From > day || b.Until != "" && b.Until <= day; b.Later {
			p.Warning = append(p.Warning, fmt.Sprintf("%d GPUs of %s are held from %s until %s, not on %s: they are in no quota", b.GPUs, b.Name, b.From, b.Until, day))
		}
	}
}

// addScenario adds the elastic pools and the tenants of the scenario.
func (q *Request) addScenario(p *Plan) {
	s := q.Scenario
	if s == nil {
		if !slices.ContainsFunc(p.Pools, func(x Pool) bool { return x.Elastic() }) {
			p.Warning = append(p.Warning, "the plan does not name its on-demand and spot pools, nor tenants: give its scenario (--scenario)")
		}
		return
	}
	for i := range s.Capacity {
		c := &s.Capacity[i]
		at := slices.IndexFunc(p.Pools, func(x Pool) bool { return x.Name == c.Name })
		if at < 0 && !c.Kind.Committed() {
			at = len(p.Pools)
			p.Pools = append(p.Pools, Pool{Name: c.Name, Model: c.GPUModel, Terms: c.Kind.String(), GPUs: int64(max(c.GPUs, c.Nodes*c.GPUsPerNode)), Source: "capacity." + c.Name + " of " + s.Name})
		}
		if at >= 0 && c.Price.Quote != nil {
			p.Pools[at].Machine = *c.Price.Quote
			p.Pools[at].Model = cmp.Or(p.Pools[at].Model, c.Price.Quote.GPU)
		}
	}
	for _, t := range s.Tenants {
		p.Tenants = append(p.Tenants, Tenant{Name: t.Name, Weight: t.Weight, Quota: int64(t.Quota)})
	}
}

// nameOnce gives pools of one name a number.
func (q *Request) nameOnce(p *Plan) {
	taken := map[string]bool{}
	for i := range p.Pools {
		name := plainName(p.Pools[i].Name)
		for k := 2; taken[name]; k++ {
			name = plainName(p.Pools[i].Name) + "-" + strconv.Itoa(k)
		}
		taken[name] = true
		p.Pools[i].Name = name
	}
	names := map[string]bool{}
	for i := range p.Tenants {
		name := plainName(p.Tenants[i].Name)
		for k := 2; names[name]; k++ {
			name = plainName(p.Tenants[i].Name) + "-" + strconv.Itoa(k)
		}
		names[name] = true
		if name != p.Tenants[i].Name {
			p.Facts = append(p.Facts, fmt.Sprintf("tenant %s is called %s", strconv.QuoteToASCII(p.Tenants[i].Name), name))
		}
		p.Tenants[i].Name = name
	}
}

// plainName returns a name that every system allows: small letters, digits and dashes, at most 40, a letter
// first (RFC 1123 labels).
func plainName(s string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, s)
	name = strings.Trim(name[:min(len(name), 40)], "-")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "pool-" + name
	}
	return strings.Trim(name, "-")
}
