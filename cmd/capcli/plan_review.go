package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/play"
	"capcli/simulate"
	planning "capcli/simulate/plan"
)

// reviewOptions are the flags of capcli plan review.
type reviewOptions struct {
	plan     planOptions // the output, the market and how to read what was used
	scenario string
	last     string
	focus    bool
}

func newPlanReview(e *env) *cobra.Command {
	var o reviewOptions
	cmd := &cobra.Command{
		Use:   "review USED",
		Short: "What is committed against what was used, and what to change",
		Long: "USED is what was in use: a job log (from start to end of each job), a table of GPUs (ds, y), a folder that\n" +
			"capcli simulate --out wrote, or with --focus a bill. " +
			"Looks at the last 90 days, and finds the best purchases for a\n" +
			"year to come in which use is as it was: what to buy, renew or let expire.",
		Example: "  capcli plan review sacct.psv.gz --held 64@2026-01-01..2027-01-01=2.20 --on-demand 3.90 --term 12mo=2.20\n" +
			"  capcli plan review used.csv --commitments plan.yaml --on-demand 3.90 --term 1mo=3.40 --term 12mo=2.20 -o json",
		Args: wantArgs("USED"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.plan.curve.demand = cmp.Or(o.plan.curve.demand, args[0])
			if o.plan.curve.demand != args[0] {
				return &usageError{text: "plan review takes what was used as its argument, found also --demand " + o.plan.curve.demand}
			}
			if err := o.plan.output.check(); err != nil {
				return err
			}
			return planReview(cmd.Context(), e, &o)
		},
	}
	addOutputFlags(cmd, &o.plan.output)
	o.plan.curve.addFlags(cmd)
	f := cmd.Flags()
	f.Lookup("held").Usage = "GPUs committed, with their price: `64@2026-01-01..2027-01-01=2.20` (may be repeated)"
	f.StringVar(&o.scenario, "commitments", "", "the owned and reserved pools of a scenario, `FILE`")
	f.BoolVar(&o.focus, "focus", false, "USED is a bill in FOCUS: an hour of use is a GPU-hour")
	f.StringVar(&o.last, "last", "90d", "look at the last `TIME` of what was used")
	explainedBy(cmd, "capcli plan curve", "demand", "series", "quantile", "on-demand-fall", "overrun", "discount", "every", "lot")
	return cmd
}

// planReviewed is a review on its way out.
type planReviewed struct {
	o      *reviewOptions
	frame  *curvePlan
	review *planning.Review
	ahead  *curvePlan // whose start is the end of what was used
	notes  []string
	played *play.Case // the run that was played again; nil where USED is no folder of runs
}

func planReview(ctx context.Context, e *env, o *reviewOptions) error {
	c := &o.plan.curve
	last, err := capcli.ParseSeconds(o.last)
	if err != nil || last < 1 {
		return &usageError{text: fmt.Sprintf("--last wants a length of time, found %q", o.last), hint: "--last 90d"}
	}
	held := c.held
	c.held = nil
	sketch, err := c.sketch(e)
	if err != nil {
		return err
	}
	r := &planReviewed{o: o}
	used, err := r.readUsed(ctx, e)
	if err != nil {
		return err
	}
	market, err := sketch.market(used.curve)
	if err != nil {
		return err
	}
	r.frame, r.notes = &curvePlan{o: &o.plan, demand: used, market: market}, used.notes
	list, err := heldContracts(sketch, held, used.curve)
	if err != nil {
		return err
	}
	more, err := r.pools(e, len(list))
	if err != nil {
		return err
	}
	list = append(list, more...)
	if r.review, err = planning.NewReview(ctx, used.curve, market, list, last); err != nil {
		return planFailed(used.file, err)
	}
	r.later()
	r.notes = append(r.notes, sketch.notes()...)
	r.note(last)
	if err := emit(e, o.plan.output, r.doc(o.plan.output.shape(e))); err != nil || used.partial == "" {
		return err
	}
	return &partialError{text: used.partial}
}

// later sets up how instants after the end of what was used are written.
func (r *planReviewed) later() {
	c := *r.frame.demand.curve
	if c.Dated() {
		c.Start += capcli.Time(r.review.To)
	}
	r.ahead = &curvePlan{o: r.frame.o, demand: &demandCurve{curve: &c}, market: r.frame.market}
}

func (r *planReviewed) note(last capcli.Seconds) {
	if got := r.review.To - r.review.From; got < last {
		r.notes = append(r.notes, fmt.Sprintf("only %s are known of the last %s", got, last))
	}
	if len(r.review.Contracts) == 0 {
		r.notes = append(r.notes, "nothing is said to be committed: --held 64@2026-01-01..2027-01-01=2.20, or --commitments plan.yaml")
	}
	if len(r.frame.market.Terms) == 0 {
		r.notes = append(r.notes, "no term is given to buy on (--term 12mo=2.20): the advice is only what to let expire")
	}
	r.notes = append(r.notes,
		fmt.Sprintf("assumed*: for %s from here on, use is as it was in the time looked at, again and again; of what is bought the part beyond that is not counted", spanText(r.review.Ahead)),
		"commitments serve use in order of their rate, the lowest first; what is committed is paid whether used or not, and not part of what is to pay")
}

// spanText is a length of time in days.
func spanText(s capcli.Seconds) string {
	if s%capcli.Day == 0 {
		return fmt.Sprintf("%d days", s/capcli.Day)
	}
	return s.String()
}

// loadUsed reads what was in use: of a job log from start to end of each job.
func (o *planCurveOptions) loadUsed(ctx context.Context, e *env) (*demandCurve, error) {
	o.measure = "usage"
	return o.load(ctx, e)
}

// heldContracts reads 64@2026-01-01..2027-01-01=2.20, with either end left out.
func heldContracts(sketch *marketSketch, list []string, c *planning.Curve) ([]planning.Contract, error) {
	var out []planning.Contract
	for _, text := range list {
		x := planning.Contract{Name: text}
		span := text
		if i := strings.LastIndexByte(text, '='); i >= 0 {
			rate, err := sketch.parseRate("--held", text[i+1:])
			if err != nil {
				return nil, err
			}
			x.Rate, x.Priced, span = rate, true, text[:i]
		}
		h, err := parseHeld(span)
		if err != nil {
			return nil, err
		}
		x.Milli, x.To = h.milli, c.Len()+100*366*capcli.Day
		if h.from != "" {
			if x.From, err = instantOn("--held", h.from, sketch.every, c); err != nil {
				return nil, err
			}
		}
		if h.until != "" {
			if x.To, err = instantOn("--held", h.until, sketch.every, c); err != nil {
				return nil, err
			}
		}
		if x.To <= x.From || x.Milli <= 0 {
			return nil, &usageError{text: fmt.Sprintf("--held %s: expected some GPUs from one instant to a later one", text), hint: "--held 64@2026-01-01..2027-01-01=2.20"}
		}
		out = append(out, x)
	}
	return out, nil
}

// pools are the committed pools of a scenario: the one that is named, else the one
// that was played again, if nothing else is said to be committed.
func (r *planReviewed) pools(e *env, given int) ([]planning.Contract, error) {
	switch {
	case r.o.scenario != "":
		text, err := readFile(e, r.o.scenario, play.ScenarioMax)
		if err != nil {
			return nil, err
		}
		s, err := scenarios.Parse(r.o.scenario, text)
		if err != nil {
			return nil, err
		}
		return r.poolsOf(s, scenarios.Options{Seed: s.Seed, Open: func(name string) ([]byte, error) { return readBeside(e, s.Dir, name) }})
	case r.played != nil && given == 0:
		return r.poolsOf(r.played.Scenario, scenarios.Options{Seed: r.played.Seed, Open: r.played.Open})
	}
	return nil, nil
}

func (r *planReviewed) poolsOf(s *scenarios.Scenario, opts scenarios.Options) ([]planning.Contract, error) {
	c := r.frame.demand.curve
	cfg, err := s.Config(func(func(capcli.Job, error) bool) {}, opts)
	if err != nil {
		return nil, err
	}
	rates, err := s.Rates(opts)
	if err != nil {
		return nil, err
	}
	start := capcli.Seconds(0) // of the scenario, from that of the curve
	if cfg.Start.Known() && c.Dated() {
		start = capcli.Seconds(cfg.Start - c.Start)
	}
	var out []planning.Contract
	for i := range cfg.Pools {
		p := &cfg.Pools[i]
		if p.Terms != simulate.Owned && p.Terms != simulate.Reserved {
			continue
		}
		x := planning.Contract{Name: p.Name, From: start + p.From, To: start + p.Until, Milli: int64(p.Capacity()) * 1000, Rate: rates[i].Price, Priced: s.Capacity[i].Price.Known || s.Capacity[i].Free}
		if p.Until == 0 {
			x.To = c.Len() + 100*366*capcli.Day
		}
		out = append(out, x)
	}
	if len(out) == 0 {
		r.notes = append(r.notes, s.Name+" has no owned or reserved pool")
	}
	return out, nil
}
