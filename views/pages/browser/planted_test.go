package browser_test

import (
	"strings"
	"testing"
)

// planted are faults of every kind, on the page, in something folded, in one theme or size.
const planted = `(() => {
	const sheet = new CSSStyleSheet();
	sheet.replaceSync(` + "`" + `
		[data-theme=light] .faint-by-day, [data-theme=dark] .faint-by-night { color: color-mix(in srgb, currentColor 40%, transparent); }
		.tiny { all: unset; display: block; width: 10px; height: 10px; }
		.narrow { all: unset; display: block; width: 30px; height: 30px; }
		.wide { width: 330px; height: 1px; }
		.focusless:focus-visible { outline: none !important; box-shadow: none !important; }` + "`" + `);
	document.adoptedStyleSheets.push(sheet);
	const main = document.querySelector("main"), fold = main.querySelector("details:not([open])");
	const plant = (where, tag, name, text) => where.append(Object.assign(document.createElement(tag), { className: name, textContent: text }));
	for (const [where, place] of [[main, "page"], [fold, "fold"]]) {
		plant(where, "p", "faint-by-day " + place, "Some words");
		plant(where, "p", "faint-by-night " + place, "Some words");
		plant(where, "input", "unnamed " + place, "");
		plant(where, "button", "tiny " + place, "Go");
		plant(where, "div", "wide " + place, "");
		plant(where, "a", "focusless " + place, "A link");
		main.querySelector(".focusless." + place).href = "/";
	}
	plant(main, "button", "narrow", "Go"); // wide enough for a pointer
	for (const [name, property, value] of [["moves", "transition", "opacity 1s"], ["printed", "display", "block"]]) {
		plant(main, "button", name, "Go");
		main.querySelector("." + name).style.setProperty(property, value, "important"); // stronger than the layers of our styles
	}
	main.append(Object.assign(document.createElement("img"), { src: "https://example.org/x.png", alt: "" }));
	document.querySelector("header.top .brand").classList.add("faint-by-night"); // the frame was known, as it was
	main.querySelector(".quiet:not(.sr-only)").style.color = "#aaa"; // judged already, as it was
	return "";
})()`

// Each look finds what it is for, although the page without the faults was looked at
// before: that a text is judged once for its colours hides no other.
func TestLooksFindWhatIsPlanted(t *testing.T) {
	t.Parallel()
	s, ctx, sweep := newSite(t), tab(t), newSweep()
	look := func(faults string) (found string) {
		visit(t, ctx, s.URL+"/approval")
		eval(t, ctx, faults)
		sweep.begin(t, ctx)
		for _, l := range sweep.looks() {
			eval(t, ctx, asLoaded)
			found += l.look(t, ctx)
		}
		return found
	}
	if found := look(`""`); found != "" {
		t.Fatalf("without faults: %s", found)
	}
	found := look(planted)
	for _, want := range []string{
		`light: color-contrast: <p class="faint-by-day page"`, `light: color-contrast: <p class="faint-by-day fold"`,
		`dark: color-contrast: <p class="faint-by-night page"`, `dark: color-contrast: <p class="faint-by-night fold"`,
		`dark: color-contrast: <span data-judge="">Countersign</span>`,
		"foreground color: #aaaaaa",
		"\nlabel: <input class=\"unnamed page\"", `light: label: <input class="unnamed page"`, `light: label: <input class="unnamed fold"`,
		"\ntarget-size: <button class=\"tiny page\"", `light: target-size: <button class="tiny fold"`,
		"a narrow phone: light, no, folded: P.faint-by-day page has contrast", "a narrow phone: dark, js, folded: P.faint-by-night page has contrast",
		"a narrow phone: dark, js, open: P.faint-by-night fold has contrast", "200 %: light, js, open: P.faint-by-day fold has contrast",
		"a wide screen: dark, js, folded: P.faint-by-night page has contrast", "a wide screen: dark, js, open: P.faint-by-night fold has contrast",
		"a narrow phone: DejaVu Sans, folded: scrolls sideways", "a narrow phone: Noto Sans, open: scrolls sideways",
		"a narrow phone: DejaVu Sans, folded: button.tiny page", "a narrow phone: Noto Sans, open: button.tiny fold",
		"a wide screen: Noto Sans, folded: button.tiny page", "a wide screen: DejaVu Sans, open: button.tiny fold",
		"a touched phone: DejaVu Sans, folded: button.narrow", "a touched phone: Noto Sans, open: button.narrow",
		"button.moves moves", "button.printed is printed",
		"a.focusless page does not show its focus", "a.focusless fold does not show its focus",
		"refused: img-src https://example.org/x.png",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("nothing says %q", want)
		}
	}
	if n := strings.Count(found, "narrow submit is 30"); n != 4 {
		t.Errorf("a button 30 px wide is found %d times, want 4, by touch alone", n)
	}
	if t.Failed() {
		t.Log(found)
	}
}
