package service

import (
	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/shell"
	"capcli/simulate/serving/service"
)

func newServiceInit(e *shell.Env) *cobra.Command {
	out := "-"
	cmd := &cobra.Command{
		Use:     "init",
		Short:   "Write a service to start from: a template with every field",
		Example: "  capcli service init\n  capcli service init --out chat.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := shell.NoArgs(cmd, args); err != nil {
				return err
			}
			if err := shell.WriteWhole(e, out, []byte(service.Template())); err != nil {
				return err
			}
			if out != "-" {
				e.Say("wrote " + out + ". next: capcli service replay " + capcli.ShellWord(out))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "-", "write it to this `FILE`")
	return cmd
}
