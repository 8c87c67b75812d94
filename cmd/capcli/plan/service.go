package plan

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile/logs/requests"
	"capcli/scenarios/decide/plan/sizing"
)

// planServiceOptions are the flags of capcli plan service.
type planServiceOptions struct {
	output shell.OutputOptions
	files  sizing.Files
	ask    sizing.Request
	prices string
	save   string
}

func newPlanService(e *shell.Env) *cobra.Command {
	var o planServiceOptions
	cmd := &cobra.Command{
		Use:   "service SPEC",
		Short: "Find the fewest replicas and GPUs with which a service keeps its promises",
		Long: "Plays the requests on 1, 2, … replicas until the promises hold, and says what that costs: the least number is\n" +
			"exact, with a proven lower bound beside it. Promises are the slo of SPEC for a --share of the requests, and\n" +
			"--max. Where no number of replicas keeps them, it says which binds and the nearest that can be kept (exit 6).",
		Example: "  capcli plan service chat.yaml --requests azure.csv.gz --max ttft_p99=200ms --max tpot_p99=50ms --growth 20%,100%\n" +
			"  capcli plan service thousand-requests --hourly --gpu-model H100=3.90,A100=2.10 --api-price in=0.5,out=1.5",
		Args: shell.WantArgs("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.files.Spec = args[0]
			return runPlanService(cmd.Context(), e, &o)
		},
	}
	shell.AddOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	f.StringVar(&o.files.Requests, "requests", "", "`FILE` of requests, a trace (default: those that SPEC says come)")
	f.StringVar(&o.files.Service, "service", "", "where SPEC is a scenario with several services: `NAME`")
	f.IntVar(&o.files.Days, "days", 1, "days of requests, where SPEC has a curve: `N`")
	f.StringVar(&o.files.Read.Format, "format", "", "format of the requests, `NAME` (default: detected): "+strings.Join(requests.Formats.Names(), ", "))
	f.StringVar(&o.ask.Share, "share", "", "`SHARE` of the requests that must be within the slo of SPEC (default: that of SPEC, or 99%)")
	f.StringArrayVar(&o.ask.Max, "max", nil, "upper limit, `METRIC=VALUE`: ttft_p99=200ms, tpot_p99=50ms, e2e_p95=5s, gpus=16 (may be repeated)")
	f.StringArrayVar(&o.ask.Min, "min", nil, "lower limit, `METRIC=VALUE`: slo_share=99% (may be repeated)")
	f.StringVar(&o.ask.Search, "search", "", "try every number from 1 (exact), from the proven bound (bound), or halve (bisect): `HOW`")
	f.StringSliceVar(&o.ask.Growth, "growth", nil, "also size for a load that has grown by `SHARES`: 20%,50%,100%; and find where today's size breaks")
	f.BoolVar(&o.ask.Hourly, "hourly", false, "size each hour of the requests by itself; with --term divide the need into reserved and scaled GPUs")
	f.StringSliceVar(&o.files.Vary.GPUModels, "gpu-model", nil, "GPU models to choose from, `H100=3.90,A100=KEY`, with prices of a GPU-hour")
	f.IntSliceVar(&o.files.Vary.Tensor, "tensor-parallel", nil, "GPUs that share a copy of the model, to choose from: `1,2,4`")
	f.StringSliceVar(&o.files.Vary.Weights, "weights", nil, "precisions of the weights to choose from: `bf16,fp8`")
	f.StringVar(&o.files.Vary.Price, "price", "", "price of a GPU-hour on demand: `$` or key (default: that of SPEC)")
	shell.AddPricesFlag(cmd, &o.prices)
	f.StringArrayVar(&o.ask.Market.Terms, "term", nil, "term to commit on: `LENGTH=$`, NAME=LENGTH@$,upfront=50%, LENGTH=KEY")
	f.StringVar(&o.ask.API, "api-price", "", "compare with a price of $ per million tokens: `in=0.5,out=1.5`")
	f.StringVar(&o.save, "save", "", "also write the plan as JSON to this `FILE`")
	shell.Complete(cmd, "format", func() []string { return shell.Entries(&requests.Formats) })
	bundle.Add(cmd, "read", "how to read them, `KEY=VALUE`: format=NAME (default: detected)", true, bundle.Key{"format", "format"})
	shell.Complete(cmd, "search", sizing.SearchNames)
	shell.Complete(cmd, "price", func() []string { return shell.PriceKeys("on_demand") })
	shell.Complete(cmd, "term", shell.TermKeys)
	shell.CompleteSign(cmd, "max", "=")
	shell.CompleteSign(cmd, "min", "=")
	cmd.ValidArgsFunction = shell.CompleteScenarios
	return cmd
}

func runPlanService(ctx context.Context, e *shell.Env, o *planServiceOptions) error {
	list, err := shell.ReadPrices(e, o.prices)
	if err != nil {
		return err
	}
	o.files.Vary.Prices, o.ask.Market.Prices, o.ask.Note = list, list, e.Note
	if err := o.files.Fill(ctx, e.Open, &o.ask); err != nil {
		return err
	}
	p := shell.NewProgress(e, "replays")
	o.ask.Progress = p.Report
	r, err := o.ask.Plan(ctx)
	if err != nil {
		return err
	}
	p.End(r.Replays)
	if err := shell.Emit(e, o.output, tables.PlanServiceDoc(r)); err != nil {
		return err
	}
	if o.save != "" {
		if err := shell.WriteJSON(e, o.save, r); err != nil {
			return err
		}
		e.Say("wrote " + o.save + ". next: capcli report " + capcli.ShellWord(o.save) + " --out meeting.html")
	}
	return r.NoPlan()
}
