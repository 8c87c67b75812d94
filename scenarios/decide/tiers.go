package decide

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/jobfile"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/inputs"
	"capcli/scenarios/kinds"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/play"
)

// With Request.Tiers the chain tells jobs apart by kind of work after the import, plans for those that are needed, and
// searches three tiers: a reserved base, GPUs on demand, and spot GPUs for the jobs that may lose them.

// The documents of the tiers.
const (
	RulesFile = "rules.yaml"   // the file of kinds, with the GPUs of a machine and what is held
	WorkFile  = "work.parquet" // the jobs with the class and the partition of their kind
	TiersYAML = "tiers.yaml"
	tiersFile = "tiers.json"
)

// jobsFile is the jobs file that the steps after the import read.
func (c *chain) jobsFile() string {
	if c.Tiers != "" {
		return WorkFile
	}
	return JobsFile
}

// readKinds reads the file of kinds. A machine on spot has the GPUs of the machine whose price is taken, unless the file
// states others.
func (c *chain) readKinds() (err error) {
	if c.Tiers != kinds.RulesAlone {
		sum, err := inputs.Hash(c.w.Open, c.Tiers)
		if err != nil {
			return err
		}
		c.out.Inputs = append(c.out.Inputs, inputs.Input{File: c.Tiers, SHA256: sum, Kind: inputs.Kinds, Took: "how work is told apart"})
	}
	if c.rules, err = kinds.Read(c.w.Open, c.Tiers); err != nil {
		return err
	}
	if len(c.rules.Held) > 0 {
		return &capcli.InputError{File: c.Tiers, Field: "held", Text: "decide takes what is held by a flag, for the plan without tiers counts it too", Hint: "--held 64@2026-01-01..2027-01-01"}
	}
	var more string
	if c.rules.MachineGPUs == 0 {
		c.rules.MachineGPUs = c.lot()
		more = fmt.Sprintf("machine_gpus: %d\n", c.lot())
	}
	return c.writeRules(more)
}

// writeRules writes the file of kinds with more lines, for the commands of the steps.
func (c *chain) writeRules(more string) error {
	text := c.docs[RulesFile]
	if text == nil {
		text = []byte("capcli: kinds/v1\n")
		if c.Tiers != kinds.RulesAlone {
			var err error
			if text, err = c.w.Open.ReadFile(c.Tiers, kinds.MaxBytes); err != nil {
				return err
			}
			text = append(bytes.TrimRight(text, "\n"), '\n')
		}
	}
	c.docs[RulesFile] = append(text, more...)
	if c.w.Documents == nil {
		return nil
	}
	return c.w.Documents.Write(RulesFile, c.docs[RulesFile])
}

// holdTiers adds what is held over the horizon to the rules, in whole GPUs.
func (c *chain) holdTiers() error {
	var more string
	for _, h := range c.bought.Held {
		x := kinds.Holding{GPUs: int(h.GPUs + 1e-9)}
		if h.Start.Time > c.out.Start {
			x.From = secondsText(capcli.Seconds(h.Start.Time - c.out.Start))
		}
		if h.End.Time < c.out.End {
			x.Until = secondsText(capcli.Seconds(h.End.Time - c.out.Start))
		}
		if x.GPUs == 0 || h.Start.Time >= c.out.End {
			continue
		}
		if c.rules.Held = append(c.rules.Held, x); more == "" {
			more = "held:\n"
		}
		more += fmt.Sprintf("  - {gpus: %d", x.GPUs)
		if x.From != "" {
			more += ", from: " + x.From
		}
		if x.Until != "" {
			more += ", until: " + x.Until
		}
		more += "}\n"
	}
	return c.writeRules(more)
}

// sortJobs tells the jobs of the import apart by kind, and writes those that are needed with the class and the
// partition of their kind.
func (c *chain) sortJobs(ctx context.Context) error {
	if err := c.readKinds(); err != nil {
		return err
	}
	survey := kinds.NewSurvey(c.rules)
	file, err := jobfile.FileOf(WorkFile)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	var all []capcli.Job
	at, end := c.w.progress("jobs")
	res, err := jobfile.Import(ctx, &jobfile.Request{
		Input: JobsFile, Open: c.open, File: file, Only: &jobfile.Only{Same: prices.SameModel}, Each: survey.Rewrite,
		Survey: func(j *capcli.Job) {
			survey.Add(j)
			all = append(all, *j)
		},
		Begin: func() (*jobfile.Pass, error) {
			out.Reset()
			return &jobfile.Pass{Jobs: &out, Reject: func(trace.Reject) error { return nil }, Done: at, End: end}, nil
		},
	})
	if err != nil {
		return err
	}
	c.byKind = survey.Report(all)
	if c.rules.Spot = c.byKind.Spot; c.rules.Spot.Source == kinds.SeenLosses {
		if err := c.writeRules(fmt.Sprintf("spot_mean_up: %ds\n", c.rules.Spot.MeanUp)); err != nil {
			return err
		}
	}
	var spot capcli.Steps[capcli.Time]
	for i := range all {
		if a := survey.Assign(&all[i]); a.Lane() == kinds.SpotLane {
			spot.Add(all[i].Submit, all[i].Submit+capcli.Time(all[i].Run), all[i].Milli())
		}
	}
	peak, _ := spot.Peak()
	c.spotPeak = float64(peak) / 1000
	f := &files{Texts: map[string][]byte{WorkFile: out.Bytes()}, Notes: res.Notes}
	return c.put("kinds", command("import", "auto", JobsFile, "--kinds", RulesFile, "--out", WorkFile), f, WorkFile)
}

// tryTiers plans the tiers. Where that fails, the decision stands without them, and a warning says why.
func (c *chain) tryTiers(ctx context.Context) error {
	err := c.planTiers(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	c.out.Tiers = nil
	c.out.Warnings = append(c.out.Warnings, fmt.Sprintf("there are no tiers: %s. The answer is that of one rule for all jobs, without the work that is not needed; state the kinds of work in a file (docs/decide.md), or ask without --tiers", strings.TrimSuffix(err.Error(), ".")))
	return nil
}

// planTiers writes the scenario of the tiers, searches them, and answers.
func (c *chain) planTiers(ctx context.Context) error {
	if err := c.writeTiers(ctx); err != nil {
		return err
	}
	s := &tierSearch{chain: c, found: map[tierPoint]*mix.Mix{}, waits: c.tierWaits()}
	return s.run(ctx)
}

func (c *chain) writeTiers(ctx context.Context) error {
	if err := c.holdTiers(); err != nil {
		return err
	}
	maker := &play.Maker{Logs: &play.Logs{Open: c.open}}
	survey, err := maker.Survey(ctx, &play.Question{Trace: WorkFile})
	if err != nil {
		return err
	}
	fit := scenarios.FitOptions{Log: WorkFile, From: WorkFile, GPUModel: c.GPU, Prices: c.own.Override(prices.Catalogue()), Commit: c.scenarioPrice()}
	made, err := survey.FitTiers(fit, c.own, c.rules)
	if err != nil {
		return err
	}
	words := append([]string{"scenarios", "init", "--trace", WorkFile, "--gpu-model", c.GPU, "--commit", fit.Commit, "--tiers", RulesFile}, c.priceFlags()...)
	return c.put("scenario of the tiers", command(append(words, "--out", TiersYAML)...), &files{Texts: map[string][]byte{TiersYAML: append([]byte(c.w.Head), made.Text...)}}, TiersYAML)
}

// tierWaits returns the values of the patience of jobs that may wait: none, half of the most and the most, which is the
// limit on the p95 wait, 2 hours without one, and no more than the slack by which jobs were told apart. So no job waits
// longer than the limit.
func (c *chain) tierWaits() []string {
	most := c.wait
	if most < 0 {
		most = 2 * capcli.Hour
	}
	if c.byKind.Row(kinds.Waits).Jobs == 0 || c.place == nil {
		return []string{"0s"}
	}
	most = min(most, c.rules.Slack)
	out := []string{"0s"}
	for _, w := range []capcli.Seconds{most / 2, most} {
		if w > 0 {
			out = append(out, secondsText(w))
		}
	}
	return slices.Compact(out)
}

// covers reports whether commitments that cover are planned beside the tiers.
func (c *chain) covers() bool {
	return slices.ContainsFunc(c.offer.Committed, func(q prices.Quote) bool { return floats(&q) })
}

func (c *chain) tierPlan(axes []string) *mixPlan {
	p := &mixPlan{scenario: TiersYAML, jobs: WorkFile, out: tiersFile, axes: axes}
	if c.WaitCost != mix.WaitCostDefault { // else as the command has it: nothing where nobody may wait
		p.waitCost = c.WaitCost
	}
	if c.covers() {
		ask := c.marketFor(c.offer)
		ask.OnDemand, ask.Held = "", nil // both are pools of the scenario
		p.market = &ask
	}
	return p
}
