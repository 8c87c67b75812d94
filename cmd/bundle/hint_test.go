package bundle_test

import (
	"testing"

	"github.com/spf13/cobra"

	"capcli/cmd/bundle"
)

func TestNameFlags(t *testing.T) {
	cmd := &cobra.Command{}
	for _, name := range []string{"max", "min", "what-if", "times"} {
		cmd.Flags().String(name, "", "")
	}
	for _, tt := range []struct{ hint, want string }{
		{"max=wait_p95=30m min=availability=0.95", "--max wait_p95=30m --min availability=0.95"},
		{"for example what-if='a -44% from 2026-06'", "for example --what-if 'a -44% from 2026-06'"},
		{"times=64=8h,16=32h, or a table", "--times 64=8h,16=32h, or a table"},
		{"capacity[0].max=72, or color=red", "capacity[0].max=72, or color=red"},
		{"--max max=3", "--max max=3"},
		{"leave min out", "leave min out"},
	} {
		if got := bundle.NameFlags(cmd, tt.hint); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.hint, got, tt.want)
		}
	}
}
