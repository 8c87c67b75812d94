package slurm

import (
	"encoding/json"
	"strconv"
	"strings"
)

// submissions are jobs as they were submitted and what administrators did, to play a site from.
// Times are seconds since Zero.
type submissions struct {
	Zero   int64       `json:"t0_of_files"`
	Jobs   []submitted `json:"submitted"`
	Events []event     `json:"events"`
	Usage  []struct {
		User, Account string
		Raw           float64 // TRES-seconds
	} `json:"usage_at_start"`
	Decay   float64  `json:"usage_last_decay_before_start_s"` // how long before the controller's start Usage was true
	Ready   *float64 `json:"controller_ready"`                // when the controller answered
	Requeue int64    `json:"cred_expire"`                     // AuthInfo's cred_expire; 0 is the default
	Shot    struct {
		At float64 `json:"at"`
	} `json:"shot"` // when the queue was asked for its planned starts
}

// submitted is one sbatch.
type submitted struct {
	ID            string  `json:"id"` // "" was refused
	At            float64 `json:"at"`
	User, Account string
	Run           int64    `json:"sleep"` // seconds that the job runs
	Args          []string `json:"args"`
}

// event is what an administrator did: cancel, release, drain, resume or reserve, by its command.
type event struct {
	At      float64 `json:"at"`
	What    string  `json:"what"`
	Command string  `json:"command"`
	Answer  string  `json:"answer"`
}

// submissions reads a list of submissions. It takes what was submitted and done, no answers.
func (r *reader) submissions(f *file) error {
	var s submissions
	if err := json.Unmarshal([]byte(f.text), &s); err != nil {
		return fault(f, 0, "", "expected a JSON object with submitted: %v", err)
	}
	for _, field := range []string{"submitted", "events", "usage_at_start", "usage_last_decay_before_start_s", "controller_ready", "cred_expire", "t0_of_files"} {
		r.account(f, 0, field, "")
	}
	r.account(f, 0, "other fields", "nothing: they are answers to hold a run against")
	s.Zero = max(1, s.Zero) // 0 is no time
	r.Submissions = &s
	return nil
}

// option returns the value of an option of sbatch in its long form, and whether it is there.
func (s *submitted) option(name string) (value string, ok bool) {
	for _, a := range s.Args {
		if key, value, _ := strings.Cut(a, "="); key == "--"+name {
			return value, true
		}
	}
	return "", false
}

// int returns an option that is a number; of 2-4 it is the first.
func (s *submitted) int(name string, otherwise int64) int64 {
	v, _ := s.option(name)
	low, _, _ := strings.Cut(v, "-")
	for _, text := range []string{low, v} {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	return otherwise
}
