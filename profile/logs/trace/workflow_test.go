package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func FuzzArgo(f *testing.F) { fuzz(f, "argo") }

// TestWorkflowFormats reads what jobs of workflows wait for.
func TestWorkflowFormats(t *testing.T) {
	for name, want := range map[string]string{
		"argo.json": `research/llm-x7k2p/prepare 0 1800 tries 0:
research/llm-x7k2p/pretrain 8 14400 tries 1: afterok:research/llm-x7k2p/prepare
research/llm-x7k2p/tune 2 10200 tries 0 fails: afterok:research/llm-x7k2p/pretrain
steps/a 4 3600 tries 0:
steps/b 0 600 tries 0:
steps/c 1 300 tries 0: afterok:steps/a:steps/b`,
	} {
		b, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "traces", name))
		if err != nil {
			t.Fatal(err)
		}
		jobs, _ := readAll(t, b, Options{})
		var lines []string
		for _, j := range jobs {
			lines = append(lines, stageLine(&j))
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestLogsOfDependencies reads SWF's fields 17 and 18, and Slurm's command lines.
func TestLogsOfDependencies(t *testing.T) {
	const swf = "; Version: 2.2\n1 0 5 100 4 -1 -1 4 200 -1 1 1 1 -1 1 -1 -1 -1\n2 110 5 100 4 -1 -1 4 200 -1 1 1 1 -1 1 -1 1 30\n"
	const sacct = "JobID|User|Account|State|Submit|Start|End|ElapsedRaw|AllocTRES|JobName|SubmitLine\n" +
		"1|ann|lab|COMPLETED|100|110|210|100|gres/gpu=4|pre|sbatch pre.sh\n" +
		"2|ann|lab|COMPLETED|101|220|230|10|gres/gpu=1|tune|sbatch --dependency=afterok:1+2 tune.sh\n" +
		"3|ann|lab|COMPLETED|102|240|250|10|gres/gpu=1|tune|sbatch -d singleton tune.sh\n" +
		"4|ann|lab|COMPLETED|103|240|250|10|gres/gpu=1|odd|sbatch --dependency=before:9 odd.sh\n" +
		"5|ann|lab|COMPLETED|oops|240|250|10|gres/gpu=1|odd|sbatch odd.sh\n"
	for data, want := range map[string]string{
		swf:   "1 4 100\n2 4 100 tries 0: afterany:1+30s",
		sacct: "1 4 100\n2 1 10 tries 0: afterok:1+120s\n3 1 10 tries 0: afterany:2\n4 1 10",
	} {
		jobs, _ := readAll(t, []byte(data), Options{})
		var lines []string
		for _, j := range jobs {
			lines = append(lines, stageLine(&j))
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}
