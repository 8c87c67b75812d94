package main

import "github.com/spf13/cobra"

func newService(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Try one service by itself: its requests, its replicas, its size",
	}
	group(cmd)
	_ = e
	return cmd
}
