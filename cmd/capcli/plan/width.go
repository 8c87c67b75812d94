package plan

import (
	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/decide/plan/widths"
)

func newPlanWidth(e *shell.Env) *cobra.Command {
	var output shell.OutputOptions
	var ask widths.Request
	var prices string
	cmd := &cobra.Command{
		Use:   "width",
		Short: "Choose how wide a job runs, and on which GPU model: by deadline, budget and price",
		Long: "Run times come from --times (stated), --amdahl (a serial share) or --measured (measured: columns gpu_model, gpus, and\n" +
			"run_s or steps_per_s). The answer is exact: the cheapest option within the deadline, the fastest within the\n" +
			"budget, and what being done earlier costs. Where no option keeps the limits it names the nearest (exit 6).",
		Example: "  capcli plan width --times 64=8h,16=32h --price H100=2.50 --deadline 24h\n" +
			"  capcli plan width --amdahl 5% --one-gpu 80h --widths 1,2,4,8..64:8 --speed H100=2.2 --price H100=3.90,A100=1.80\n" +
			"  capcli plan width --measured gavel.csv --job-type ResNet-50 --where batch_size=64 --steps 2000000 --price V100=2.48",
		Args: shell.WantArgs(),
		RunE: func(*cobra.Command, []string) error { return runPlanWidth(e, &ask, prices, output) },
	}
	shell.AddOutputFlags(cmd, &output)
	f := cmd.Flags()
	f.StringArrayVar(&ask.Times, "times", nil, "run time by GPUs, `GPUS=TIME`,…: 64=8h,16=32h; of one model H100:64=8h (may be repeated)")
	f.StringVar(&ask.Amdahl, "amdahl", "", "run times by Amdahl's law: `SHARE` of the work that is serial, 0.05 or 5%")
	f.StringVar(&ask.OneGPU, "one-gpu", "", "with --amdahl: run time on one GPU of speed 1, `TIME`")
	f.StringVar(&ask.Widths, "widths", "", "with --amdahl: GPU counts to try, `1,2,4` or 8..64:8")
	f.StringArrayVar(&ask.Speed, "speed", nil, "with --amdahl: speed of models, `H100=2.2` (default: 1)")
	f.StringVar(&ask.Table, "measured", "", "run times or rates by GPU model and count: `FILE`, or - for stdin")
	f.StringVar(&ask.JobType, "job-type", "", "with --measured: rows of this job type, `NAME`")
	f.StringArrayVar(&ask.Where, "where", nil, "with --measured: rows that have a value, `COLUMN=VALUE` (may be repeated)")
	f.Int64Var(&ask.Steps, "steps", 0, "with --measured: steps of the job, where the table has rates: `N`")
	f.StringArrayVar(&ask.Price, "price", nil, "models and prices of a GPU-hour, `H100=2.50,A100=KEY` (keys: capcli prices list)")
	f.StringArrayVar(&ask.Most, "most", nil, "most GPUs that there are of a model, `H100=64` (may be repeated)")
	f.StringVar(&ask.Deadline, "deadline", "", "longest run time: `TIME`, 24h")
	f.StringVar(&ask.Budget, "budget", "", "highest cost, `USD`: 2000, 15k")
	shell.AddPricesFlag(cmd, &prices)
	shell.Complete(cmd, "price", func() []string { return shell.PriceKeys("on_demand") })
	return cmd
}

func runPlanWidth(e *shell.Env, ask *widths.Request, prices string, output shell.OutputOptions) (err error) {
	if ask.Prices, err = shell.ReadPrices(e, prices); err != nil {
		return err
	}
	r, err := ask.Plan(e.Open)
	if err != nil {
		return err
	}
	if err := shell.Emit(e, output, tables.PlanWidthDoc(r)); err != nil {
		return err
	}
	return r.NoPlan()
}
