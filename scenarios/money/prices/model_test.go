package prices

import (
	"strings"
	"testing"
)

// TestNamesModel: names of GPUs as logs write them against those of the
// catalogue.
func TestNamesModel(t *testing.T) {
	tests := []struct {
		log, list string
		want      bool
	}{
		{"a100", "A100", true},
		{"NVIDIA A100-SXM4-80GB", "A100-80GB", true},
		{"NVIDIA A100-SXM4-80GB", "A100", false},
		{"a100_80", "A100-80GB", true},
		{"NVIDIA A100-PCIE-40GB", "A100", true},
		{"Tesla V100-SXM2-16GB", "V100", true},
		{"Tesla V100-SXM2-32GB", "V100-32GB", true},
		{"NVIDIA H100 80GB HBM3", "H100", true},
		{"l40s", "L4", false},
		{"rtx30", "T4", false},
		{"", "T4", false},
	}
	for _, tt := range tests {
		if got := namesModel(tt.log, tt.list); got != tt.want {
			t.Errorf("%q and %q: got %v, want %v", tt.log, tt.list, got, tt.want)
		}
	}
	for _, model := range []string{"V100", "h100", "a100_80"} {
		year, onDemand, ok := Catalogue().KeysForModel(model)
		if !ok || !strings.HasSuffix(onDemand, "/on_demand") || year != "" && !strings.Contains(year, "/1y") {
			t.Errorf("%s: got %q, %q, %v", model, year, onDemand, ok)
		}
	}
}
