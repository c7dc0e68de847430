package static_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "draw the icons again")

// icons are drawn from img/favicon.svg. Systems cut those that fill their square as they
// like: what they show then lies within the circle that is always left.
var icons = []struct {
	name string
	size int64
	full bool
}{
	{"icon-192.png", 192, false},
	{"icon-512.png", 512, false},
	{"icon-maskable-512.png", 512, true},
	{"icon-180.png", 180, true}, // for systems that cut corners themselves
}

// TestGoldenIcons looks whether the icons are what the drawing gives; with -update it
// draws them.
func TestGoldenIcons(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("img/favicon.svg")
	if err != nil {
		t.Fatal(err)
	}
	drawing := string(raw)
	full := strings.NewReplacer(` rx="7"`, "", "translate(4 4)", "translate(6.4 6.4) scale(0.8)").Replace(drawing)
	if strings.Contains(full, "rx=") || !strings.Contains(full, "scale(0.8)") {
		t.Fatal("the drawing is another one: say how it fills a square")
	}
	ctx := browser(t)
	for _, icon := range icons {
		svg := drawing
		if icon.full {
			svg = full
		}
		drawn := draw(ctx, t, svg, icon.size)
		file := filepath.Join("img", icon.name)
		if *update {
			if err := os.WriteFile(file, drawn, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if share := differ(t, drawn, kept); share > 0.01 {
			t.Errorf("%s: %.1f %% of it is not what the drawing gives (go test ./static -run Golden -update)", icon.name, share*100)
		}
	}
}

func browser(t *testing.T) context.Context {
	t.Helper()
	path := os.Getenv("CHROMIUM")
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); path == "" && err == nil {
			path = found
		}
	}
	if path == "" {
		t.Fatal("icons are drawn by Chromium: install it, or set CHROMIUM to its path")
	}
	allocator, stop := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)...)
	t.Cleanup(stop)
	ctx, leave := chromedp.NewContext(allocator)
	t.Cleanup(leave)
	return ctx
}

// draw is a drawing as a PNG of size by size.
func draw(ctx context.Context, t *testing.T, svg string, size int64) []byte {
	t.Helper()
	page := fmt.Sprintf(`<!doctype html><body style="margin:0"><img style="display:block" width=%d height=%d src="data:image/svg+xml;base64,%s">`, size, size, base64.StdEncoding.EncodeToString([]byte(svg)))
	err := chromedp.Do(ctx,
		chromedp.EmulateViewport(size, size),
		chromedp.Navigate("data:text/html;base64,"+base64.StdEncoding.EncodeToString([]byte(page))),
		transparent(),
	)
	if err != nil {
		t.Fatal(err)
	}
	shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	picture, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// transparent has a page without a colour of its own drawn on nothing.
func transparent() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		none := emulation.SetDefaultBackgroundColorOverrideParams{Color: &cdp.RGBA{A: 0.001}} // zero would be left out, and mean one
		_, err := cdp.Call(ctx, target, emulation.SetDefaultBackgroundColorOverride, none)
		return err
	})
}

// differ is the share of points that differ more than drawing again may make them.
func differ(t *testing.T, one, other []byte) float64 {
	t.Helper()
	decode := func(raw []byte) image.Image {
		picture, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		return picture
	}
	a, b := decode(one), decode(other)
	if a.Bounds() != b.Bounds() {
		return 1
	}
	count := 0
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			if far(a.At(x, y), b.At(x, y)) {
				count++
			}
		}
	}
	return float64(count) / float64(a.Bounds().Dx()*a.Bounds().Dy())
}

// far reports whether two colours differ by more than a tenth in any part.
func far(a, b color.Color) bool {
	const tenth = 0xffff / 10
	r1, g1, b1, a1 := a.RGBA()
	r2, g2, b2, a2 := b.RGBA()
	for _, pair := range [][2]uint32{{r1, r2}, {g1, g2}, {b1, b2}, {a1, a2}} {
		if max(pair[0], pair[1])-min(pair[0], pair[1]) > tenth {
			return true
		}
	}
	return false
}
