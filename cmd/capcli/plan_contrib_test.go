package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"capcli/cmd/capcli/plan"
	"capcli/testdata/shelltest"
)

// kubernetesJob is what of a Job matters to a plan.
type kubernetesJob struct {
	Metadata struct{ Name string }
	Spec     struct {
		Suspend              bool
		CompletionMode       string `yaml:"completionMode"`
		Completions          int
		BackoffLimitPerIndex int `yaml:"backoffLimitPerIndex"`
		Template             struct {
			Spec struct {
				RestartPolicy string `yaml:"restartPolicy"`
				Containers    []struct {
					Args []string
					Env  []struct{ Name, Value string }
				}
			}
		}
	}
}

// The Job in contrib asks for what capcli has: its command lines are understood, and its pods are told
// how many shards there are. TestPlaceOfAShard holds that each then finds the one that it is meant to.
func TestKubernetesJob(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "contrib", "kubernetes", "plan-job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var jobs []kubernetesJob
	for d := yaml.NewDecoder(bytes.NewReader(b)); ; {
		var j kubernetesJob
		if err := d.Decode(&j); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, j)
	}
	if len(jobs) != 2 {
		t.Fatalf("%d jobs, want the shards and the merge", len(jobs))
	}
	e, _, _ := shelltest.NewEnv()
	parsed := func(j *kubernetesJob) (*cobra.Command, string) {
		root := newRoot(e)
		cmd, rest, err := root.Find(plan.ChoosePlan(root, j.Spec.Template.Spec.Containers[0].Args))
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil {
			t.Fatalf("%s: %v", j.Metadata.Name, err)
		}
		return cmd, cmd.Flags().Lookup("out").Value.String()
	}
	shards, merge := &jobs[0], &jobs[1]
	if s := &shards.Spec; s.CompletionMode != "Indexed" || s.BackoffLimitPerIndex < 1 || s.Template.Spec.RestartPolicy != "Never" {
		t.Errorf("the shards are %+v", s)
	}
	_, out := parsed(shards)
	pods := ""
	for _, v := range shards.Spec.Template.Spec.Containers[0].Env {
		if v.Name == "CAPCLI_SHARDS" {
			pods = v.Value
		}
	}
	if pods != strconv.Itoa(shards.Spec.Completions) {
		t.Errorf("the pods are told of %q shards, want as many as there are: %d", pods, shards.Spec.Completions)
	}
	cmd, _ := parsed(merge)
	if cmd.Name() != "merge" || cmd.Flags().Arg(0) != out || !merge.Spec.Suspend {
		t.Errorf("the merge is %s of %s, want it to wait and join %s", cmd.Name(), cmd.Flags().Arg(0), out)
	}
}
