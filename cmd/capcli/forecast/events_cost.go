package forecast

import (
	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile/accelerator"
	"capcli/scenarios/events"
	"capcli/scenarios/money/prices"
)

func newEventsCost(e *shell.Env) *cobra.Command {
	var (
		o      shell.OutputOptions
		tz     string
		models []string
		own    string
	)
	cmd := &cobra.Command{
		Use:   "cost FILE…",
		Short: "What the campaigns of files cost: GPU-hours and dollars by term, by GPU model",
		Example: "  capcli forecast events cost events.yaml\n" +
			"  capcli forecast events cost events.yaml --gpu H100,A100-80GB,TPU-v5p --table models",
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := readEvents(cmd, e, args, tz)
			if err != nil {
				return err
			}
			list, err := shell.OwnPrices(e, own)
			if err != nil {
				return err
			}
			return shell.Answer(e, o, tables.CostsDoc)(events.Costs(plan, models, list.Override(prices.Catalogue())))
		},
	}
	cmd.Flags().StringVar(&tz, "tz", "", "`ZONE` of days and times that state none, where the file names none")
	cmd.Flags().StringSliceVar(&models, "gpu", nil, "also on these GPU `models`, at the same MFU: H100,MI300X,TPU-v5p")
	shell.AddPricesFlag(cmd, &own)
	shell.CompleteList(cmd, "gpu", accelerator.Names)
	shell.AddOutputFlags(cmd, &o)
	return cmd
}
