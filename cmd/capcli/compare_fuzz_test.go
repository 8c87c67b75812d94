package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capcli/cmd/shell"
	"capcli/testdata/shelltest"
)

// FuzzCompare: whatever a saved result holds, it is compared or refused; nothing in
// it makes the program fail.
func FuzzCompare(f *testing.F) {
	e, out, errs := shelltest.NewEnv()
	if code := run(f.Context(), e, []string{"simulate", "-o", "json"}); code != 0 {
		f.Fatal(errs)
	}
	f.Add(bytes.Clone(out.Bytes()))
	f.Add([]byte(`{"schema":"capcli/simulate/v1","runs":[{"scenario":"a"},{"scenario":"b","policy":"easy"}]}`))
	f.Add([]byte(`{"schema":"capcli/simulate/v1","runs":[{"waits":null,"tenants":[{}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		name := filepath.Join(t.TempDir(), "runs.json")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{"table", "json"} {
			e, _, errs := shelltest.NewEnv()
			code := run(t.Context(), e, []string{"compare", name, name, "-o", form})
			if strings.Contains(errs.String(), "internal error") || code != 0 && code != shell.ExitInput && code != shell.ExitUsage {
				t.Errorf("exit %d: %s", code, errs)
			}
		}
	})
}
