package forecast

import (
	"testing"

	"capcli/forecast/internal/golden"
)

// R forecast 8.20 thetaf. R's simplex stops within 1e-4 of the best alpha, ours goes on.
func TestThetaAsR(t *testing.T) {
	for _, name := range []string{"AirPassengers", "WWWusage", "UKgas", "JohnsonJohnson", "LakeHuron", "ldeaths", "nottem", "wineind"} {
		t.Run(name, func(t *testing.T) {
			all := map[string]ends{}
			golden.Read(t, name+"-simple", &all)
			want, ok := all["theta"]
			if !ok {
				t.Skip("R has no Theta for it")
			}
			sameForecast(t, "theta", theta{period: golden.Frequency[name]}, golden.Series(t, name), want, 1e-3)
		})
	}
}
