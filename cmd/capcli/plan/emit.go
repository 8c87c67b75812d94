package plan

import (
	"bytes"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/capcli/replay"
	"capcli/cmd/shell"
	"capcli/scenarios"
	systems "capcli/scenarios/decide/emit"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/play"
)

// emitOptions are the flags of capcli emit.
type emitOptions struct {
	plan, as, out            string
	scenario, price, ownFile string
	at                       string
}

func newEmit(e *shell.Env) *cobra.Command {
	var o emitOptions
	cmd := &cobra.Command{
		Use:   "emit PLAN.json --as SYSTEM",
		Short: "Write a plan as quotas, node pools or reservations of another system",
		Long: "emit writes what a saved plan says to have for the system that holds it. Comments say where each number\n" +
			"comes from, what the plan leaves unserved, and what is left to fill in. A limit that the plan does not\n" +
			"state is 0, never a guess. A plan of mixes names its on-demand and spot pools and its tenants with --scenario.",
		Example: "  capcli plan mix plan.yaml -o json --out plan.json\n" +
			"  capcli emit plan.json --as kueue --scenario plan.yaml --out kueue.yaml\n" +
			"  capcli emit plan.json --as terraform --price gcp/us-central1/a3-highgpu-8g/1y",
		Args: shell.WantArgs("PLAN.json"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.plan = args[0]
			return runEmit(e, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.as, "as", "", "the `SYSTEM` to write for")
	f.StringVar(&o.out, "out", "-", "write it to this `FILE`")
	f.StringVar(&o.scenario, "scenario", "", "the plan's scenario, a `FILE` or a name of the library: elastic pools, tenants, machines")
	f.StringVar(&o.price, "price", "", "the machine of the GPUs, by the `KEY` of its price (capcli prices list)")
	f.StringVar(&o.at, "at", "", "quotas of this `DAY`; default: the first of the plan")
	shell.AddPricesFlag(cmd, &o.ownFile)
	shell.Complete(cmd, "as", func() []string { return shell.Entries(&systems.Targets) })
	shell.Complete(cmd, "price", func() []string { return shell.PriceKeys("") })
	return cmd
}

func runEmit(e *shell.Env, o emitOptions) error {
	if _, err := systems.Targets.Get(o.as); err != nil {
		return err
	}
	q, err := o.request(e)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	said, err := q.Write(&text)
	if err != nil {
		return err
	}
	if err := shell.WriteWhole(e, o.out, text.Bytes()); err != nil {
		return err
	}
	for _, s := range said {
		e.Note(s)
	}
	return nil
}

// request reads the files that o names.
func (o *emitOptions) request(e *shell.Env) (*systems.Request, error) {
	q := &systems.Request{File: o.plan, As: o.as, At: capcli.NoTime}
	var err error
	if q.Text, err = shell.ReadFile(e, o.plan, replay.PlanMax+1); err != nil {
		return nil, err
	}
	if o.at != "" {
		if q.At, err = shell.ParseDay("at", o.at, 0); err != nil {
			return nil, err
		}
	}
	own, err := shell.OwnPrices(e, o.ownFile)
	if err != nil {
		return nil, err
	}
	if o.price != "" {
		quote, err := own.Override(prices.Catalogue()).Find(o.price)
		if err != nil {
			return nil, err
		}
		q.Price = &quote
	}
	if o.scenario == "" {
		return q, nil
	}
	sets, err := q.Choices()
	if err != nil {
		return nil, err
	}
	text, ok := scenarios.Library(o.scenario)
	if !ok {
		if text, err = shell.ReadFile(e, o.scenario, play.ScenarioMax); err != nil {
			return nil, err
		}
	}
	q.Scenario, err = scenarios.ParseWith(own, o.scenario, text, sets...)
	return q, err
}
