// Package service holds the command service and those under it.
package service

import (
	"github.com/spf13/cobra"

	"capcli/cmd/shell"
)

// Commands returns the commands of this package over e.
func Commands(e *shell.Env) []*cobra.Command { return []*cobra.Command{newService(e)} }

func newService(e *shell.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Try one service by itself: its requests, its replicas, its size",
		Long: "A service answers requests with a language model. Its block says how a replica works, what is promised, and how\n" +
			"replicas follow the load: docs/services.md.",
		Example: "  capcli service model llama-3.1-70b --gpu H100 --tp 4 --weights fp8\n" +
			"  capcli service replay chat.yaml --requests requests.csv\n" +
			"  capcli service scale service.yaml --load load.csv",
	}
	shell.SetGroup(cmd)
	cmd.AddCommand(
		newServiceAgents(e),
		newServiceDescribe(e),
		newServiceEstimate(e),
		newServiceFit(e),
		newServiceInit(e),
		newServiceModel(e),
		newServiceReplay(e),
		newServiceScale(e),
	)
	return cmd
}
