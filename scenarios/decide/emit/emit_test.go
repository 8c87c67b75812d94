package emit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/emit"
	"capcli/scenarios/kubernetes"
	"capcli/scenarios/money/prices"
)

const mixPlan = `{"schema":"capcli/plan_mix/v1","scenario":"lab","best":{"choices":[{"path":"capacity.base.gpus","value":"60"}],
	"cost_usd":"10.00","unserved_share":0.25,"unserved_jobs":12,"held_share":0.5},"buys":[{"pool":"base","gpus":60,"terms":"reserved","term":"1y","gpu_model":"H100"}]}`

const futuresPlan = `{"schema":"capcli/plan_futures/v1","futures":{"count":50},"risk":"mean","optimum":{"purchases":[
	{"term":"1y","start":"2027-01-01T00:00:00Z","end":"2028-01-01T00:00:00Z","gpus":62.5,"usd_per_gpu_hour":"2.00","cost_usd":"1.00"},
	{"term":"6mo","start":"2027-07-01T00:00:00Z","end":"2028-01-01T00:00:00Z","gpus":16,"usd_per_gpu_hour":"2.00","cost_usd":"1.00"}]}}`

const jointPlan = `{"schema":"capcli/plan_joint/v1","gap":0.01,"purchases":[
	{"offer":"H100 1y","product":"reserved_instance","gpu_model":"H100","start":"2027-01-01","end":"2028-01-01","gpus":16},
	{"offer":"plan","product":"savings_plan","gpu_model":null,"start":"2027-01-01","end":"2028-01-01","gpus":null,"commitment_usd_per_hour":10}],
	"gpu_models":[{"gpu_model":"H100","on_demand_gpu_hours":100}]}`

const lab = `capcli: scenario/v1
name: lab
capacity:
  - {name: base, kind: reserved, gpus: 48, price: 2, gpu_model: H100}
  - {name: od, kind: on_demand, max_gpus: 32, price: 4, gpu_model: H100}
  - {name: cheap, kind: spot, price: 1, gpu_model: H100}
tenants: [{name: research, weight: 2, quota: 50}, {name: "Prod !", weight: 1}]
`

func request(t *testing.T, text, as string) *emit.Request {
	t.Helper()
	s, err := scenarios.Parse("lab.yaml", []byte(lab), "capacity.base.gpus=60")
	if err != nil {
		t.Fatal(err)
	}
	return &emit.Request{File: "plan.json", Text: []byte(text), As: as, Scenario: s, At: capcli.NoTime}
}

func write(t *testing.T, q *emit.Request) (text string, said []string) {
	t.Helper()
	var b bytes.Buffer
	said, err := q.Write(&b)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), said
}

func TestEveryTargetSaysWhatIsMissing(t *testing.T) {
	for _, target := range emit.Targets.All() {
		text, said := write(t, request(t, mixPlan, target.Name))
		for _, want := range []string{"best mix of lab: capacity.base.gpus = 60", "WARNING: this plan leaves 25% of the work unserved (12 jobs)", "WARNING: the plan's limits hold in 50%"} {
			if !strings.Contains(text, "# "+want) && !strings.Contains(text, "#   "+want) {
				t.Errorf("%s does not say %q:\n%s", target.Name, want, text)
			}
		}
		if len(said) < 2 {
			t.Errorf("%s: beside the text it says only %q", target.Name, said)
		}
		if target.Name != "terraform" && !strings.Contains(text, "states no limit") && !strings.Contains(text, "states none") {
			t.Errorf("%s does not say that the spot pool has no limit:\n%s", target.Name, text)
		}
	}
}

// TestKueueReadsBack: what is written for Kueue is read by the reader of its objects, and the quotas of the
// tenants sum to the plan's GPUs.
func TestKueueReadsBack(t *testing.T) {
	for name, plan := range map[string]string{"mix": mixPlan, "futures": futuresPlan, "joint": jointPlan} {
		text, _ := write(t, request(t, plan, "kueue"))
		objects := kubernetes.NewObjects()
		if err := objects.Read("kueue.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	text, _ := write(t, request(t, mixPlan, "kueue"))
	for _, want := range []string{"nominalQuota: 40\n        borrowingLimit: 10", "nominalQuota: 20\n        borrowingLimit: 40", "name: prod\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestQuotasOfADay(t *testing.T) {
	q := request(t, futuresPlan, "karpenter")
	q.Scenario = nil
	text, said := write(t, q)
	if !strings.Contains(text, `nvidia.com/gpu: "63"`) || strings.Contains(text, `"16"`) || !strings.Contains(text, "62.5 GPUs, rounded up to 63") {
		t.Errorf("on the first day:\n%s", text)
	}
	if len(said) == 0 || !strings.Contains(said[0], "16 GPUs of 6mo are held from 2027-07-01 until 2028-01-01, not on 2027-01-01") {
		t.Errorf("beside it: %q", said)
	}
	q.At = capcli.Time(1_814_400_000) // 2027-07-01
	if text, _ = write(t, q); !strings.Contains(text, `nvidia.com/gpu: "16"`) || !strings.Contains(text, `nvidia.com/gpu: "63"`) {
		t.Errorf("in the summer:\n%s", text)
	}
}

func TestTerraform(t *testing.T) {
	for key, want := range map[string]string{
		"gcp/us-central1/a3-highgpu-8g/1y": "google_compute_reservation", "aws/us-east-1/p5.48xlarge/on_demand": "aws_ec2_capacity_reservation", "": "machines_base",
	} {
		q := request(t, mixPlan, "terraform")
		if key != "" {
			quote, err := prices.Catalogue().Find(key)
			if err != nil {
				t.Fatal(err)
			}
			q.Price = &quote
		}
		text, _ := write(t, q)
		if !strings.Contains(text, want) || key != "" && !strings.Contains(text, "60 GPUs are no whole number of machines of 8: 8 machines have 64") {
			t.Errorf("%s: no %s in\n%s", key, want, text)
		}
	}
	wrong, err := prices.Catalogue().Find("gcp/us-central1/a2-highgpu-8g/on_demand")
	if err != nil {
		t.Skip(err)
	}
	q := request(t, mixPlan, "terraform")
	q.Price = &wrong
	if _, err := q.Write(io.Discard); err == nil {
		t.Error("a machine of another model is taken")
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"no best mix", `{"schema":"capcli/plan_mix/v1","best":null,"buys":[]}`},
		{"no plan", `{"schema":"capcli/simulate/v1"}`},
		{"no JSON", `x`},
		{"nothing committed", `{"schema":"capcli/plan_mix/v1","best":{"choices":[]},"buys":[]}`},
		{"wrong types", `{"schema":"capcli/plan_joint/v1","purchases":5}`},
	} {
		q := request(t, tt.text, "kueue")
		q.Scenario = nil
		if _, err := q.Write(io.Discard); err == nil {
			t.Errorf("%s: it is written", tt.name)
		}
	}
	q := request(t, mixPlan, "kuue")
	if _, err := q.Write(io.Discard); err == nil || !strings.Contains(err.Error(), `did you mean "kueue"?`) {
		t.Errorf("an unknown system: %v", err)
	}
	var none *capcli.ResultError
	q = request(t, `{"schema":"capcli/plan_mix/v1","best":{"choices":[]},"buys":[]}`, "terraform")
	if _, err := q.Write(io.Discard); !errors.As(err, &none) {
		t.Errorf("a plan that reserves nothing: %v", err)
	}
}

// TestSlurmScriptRuns runs the script with programs that only take down how they are called.
func TestSlurmScriptRuns(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh here")
	}
	text, _ := write(t, request(t, mixPlan, "slurm"))
	folder := t.TempDir()
	for _, name := range []string{"sacctmgr", "scontrol"} {
		script := "#!/bin/sh\necho \"" + name + " $*\" >>\"$CALLS\"\n"
		if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	run := func(more ...string) (string, string, error) {
		calls := filepath.Join(t.TempDir(), "calls")
		cmd := exec.Command(shell)
		cmd.Stdin, cmd.Env = strings.NewReader(text), append([]string{"PATH=" + folder + ":" + os.Getenv("PATH"), "CALLS=" + calls}, more...)
		out, err := cmd.Output()
		said, _ := os.ReadFile(calls)
		return string(out), string(said), err
	}
	if _, calls, err := run("NODES_BASE=a[1-8]"); err == nil || calls != "" {
		t.Errorf("without the nodes of a pool it runs: %v, %q", err, calls)
	}
	out, calls, err := run("NODES_BASE=a[1-8]", "NODES_OD=b[1-4]", "NODES_CHEAP=c1")
	if err != nil || !strings.Contains(out, "PartitionName=base Nodes=a[1-8] QOS=base") || !strings.Contains(calls, "sacctmgr -i modify qos base set GrpTRES=gres/gpu=60\n") || !strings.Contains(calls, "add account research set FairShare=200\n") {
		t.Errorf("%v\n%s\n%s", err, out, calls)
	}
}

// TestHostileNames: a name ends no comment, no string and no line.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{"a\nkind: Pod", `"; rm -rf /`, "$(reboot)", "`id`", "---", "${x}", "a\u2028b", "\x00", "漢字", "#", "'", "PARTITIONS"} {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.NewReplacer(`"base"`, string(quoted), `"lab"`, string(quoted), `"1y"`, string(quoted), `"H100"`, string(quoted)).Replace(mixPlan)
		for _, target := range emit.Targets.All() {
			q := request(t, plan, target.Name)
			q.Scenario = nil
			text, _ := write(t, q)
			for line := range strings.Lines(text) {
				line = strings.TrimSpace(line)
				if strings.HasPrefix(line, "#") {
					continue
				}
				for _, bad := range []string{"kind: Pod", "rm -rf", "reboot)", "`id`", "${x}", "漢"} {
					if strings.Contains(line, bad) {
						t.Errorf("%s: %q stands in %q", target.Name, name, line)
					}
				}
			}
		}
	}
}

// TestHostileMachine: the name of a machine in somebody's price file is no code in Terraform.
func TestHostileMachine(t *testing.T) {
	q := request(t, mixPlan, "terraform")
	for _, provider := range []string{"aws", "gcp", "azure"} {
		q.Price = &prices.Quote{Row: prices.Row{Provider: provider, Region: "r\"}", Machine: `x${file("/etc/passwd")}%{if true}`, GPU: "H100", GPUs: 8}}
		text, _ := write(t, q)
		if strings.Contains(strings.ReplaceAll(text, "$${", ""), "${") || strings.Contains(strings.ReplaceAll(text, "%%{", ""), "%{") || strings.Contains(text, `r"}`) && !strings.Contains(text, `r\"}`) {
			t.Errorf("%s:\n%s", provider, text)
		}
	}
}

// successivePlan buys 104 GPUs three times, one after another.
const successivePlan = `{"schema":"capcli/plan_futures/v1","futures":{"count":50},"risk":"mean","optimum":{"purchases":[
	{"term":"3mo","start":"2027-01-01T00:00:00Z","end":"2027-04-01T00:00:00Z","gpus":104,"usd_per_gpu_hour":"2.00","cost_usd":"1.00"},
	{"term":"3mo","start":"2027-04-01T00:00:00Z","end":"2027-07-01T00:00:00Z","gpus":104,"usd_per_gpu_hour":"2.00","cost_usd":"1.00"},
	{"term":"3mo","start":"2027-07-01T00:00:00Z","end":"2027-10-01T00:00:00Z","gpus":104,"usd_per_gpu_hour":"2.00","cost_usd":"1.00"}]}}`

// TestTerraformHoldsDates: every reservation of a purchase with dates is there on its days alone.
func TestTerraformHoldsDates(t *testing.T) {
	for _, key := range []string{"gcp/us-central1/a3-highgpu-8g/1y", "aws/us-east-1/p5.48xlarge/on_demand"} {
		quote, err := prices.Catalogue().Find(key)
		if err != nil {
			t.Fatal(err)
		}
		q := request(t, successivePlan, "terraform")
		q.Scenario, q.Price = nil, &quote
		text, _ := write(t, q)
		resources, counts := strings.Count(text, "\nresource "), strings.Count(text, "\n  count = local.held_")
		if resources != 3 || counts != 3 || strings.Count(text, "timecmp(local.now, ") != 6 {
			t.Errorf("%s: %d resources and %d counts in\n%s", key, resources, counts, text)
		}
	}
	terraform, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("terraform is not here: ", err)
	}
	q := request(t, successivePlan, "terraform")
	q.Scenario = nil
	text, _ := write(t, q)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		cmd := exec.Command(terraform, append([]string{"-chdir=" + dir}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "TF_CLI_CONFIG_FILE=", "CHECKPOINT_DISABLE=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("terraform %v: %v\n%s\n%s", args, err, out, text)
		}
		return string(out)
	}
	run("init", "-input=false", "-no-color")
	vars := []string{}
	for _, name := range strings.Split(text, "variable \"machine_")[1:] {
		name, _, _ = strings.Cut(name, "\"")
		vars = append(vars, "-var", "machine_"+name+`={machine="m",zone="z",gpus_per_machine=8}`)
	}
	for now, want := range map[string]int{"2026-12-31T23:59:59Z": 0, "2027-04-01T00:00:00Z": 13, "2027-10-01T00:00:00Z": 0} {
		run(append([]string{"apply", "-auto-approve", "-input=false", "-no-color", "-var", "now=" + now}, vars...)...)
		var outputs map[string]struct{ Value int }
		if err := json.Unmarshal([]byte(run("output", "-json")), &outputs); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, o := range outputs {
			sum += o.Value
		}
		if sum != want || len(outputs) != 3 {
			t.Errorf("on %s %d machines are there, in %d outputs, want %d", now, sum, len(outputs), want)
		}
	}
}
