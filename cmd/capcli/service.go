package main

import "github.com/spf13/cobra"

func newService(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Try one service by itself: its requests, its replicas, its size",
		Example: "  capcli service model llama-3.1-70b --gpu H100 --tp 4 --weights fp8\n" +
			"  capcli service scale service.yaml --load load.csv",
	}
	group(cmd)
	cmd.AddCommand(newServiceModel(e), newServiceFit(e), newServiceScale(e))
	return cmd
}
