package forecast

import (
	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
)

func newForecastModels(e *shell.Env) *cobra.Command {
	var o shell.OutputOptions
	cmd := &cobra.Command{
		Use:     "models",
		Short:   "List the models that forecast can use",
		Example: "  capcli forecast models",
		Args:    shell.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return shell.Emit(e, o, tables.ModelsDoc()) },
	}
	shell.AddOutputFlags(cmd, &o)
	return cmd
}
