package main

import (
	"github.com/spf13/cobra"
)

// addOverrideFlags gives cmd the flags that make a scenario look at a log that
// it was not written for.
func (o *simulateOptions) addOverrideFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.period, "period", "", "time looked at, in place of the scenario's: `'A to B'`, or trace for the days of the log")
	f.StringVar(&o.models, "models", "", "`any`: run jobs on GPUs of any model, whatever the log says that they want")
	complete(cmd, "period", func() []string { return []string{"trace\tthe days on which the jobs of --trace were submitted"} })
	complete(cmd, "models", func() []string { return []string{"any\tjobs run on GPUs of any model"} })
}
