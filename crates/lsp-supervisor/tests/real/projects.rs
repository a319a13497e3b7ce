//! The projects, a small one for each language.
//!
//! `«name»` in a project marks its line; it is taken out before the server sees it.

use std::collections::BTreeMap;

/// The file and the line of each mark.
pub(crate) type Marks = BTreeMap<String, (String, usize)>;

/// A project below `shop/` without its marks, and where they were.
pub(crate) fn marked(project: &str) -> (String, Marks) {
    let mut marks = Marks::new();
    let (mut file, mut line, mut plain) = (String::new(), 0, String::new());
    for text in project.lines() {
        line += 1;
        if let Some(path) = text.strip_prefix("//- /") {
            (file, line) = (path.to_owned(), 0);
        }
        let mut text = text.to_owned();
        while let (Some(start), Some(end)) = (text.find('«'), text.find('»')) {
            let name = text[start + '«'.len_utf8()..end].to_owned();
            marks.insert(name, (file.clone(), line));
            text.replace_range(start..end + '»'.len_utf8(), "");
        }
        plain += &text.replace("//- /", "//- /shop/");
        plain.push('\n');
    }
    (plain, marks)
}

pub(crate) const RUST: &str = "\
//- /Cargo.toml
[package]
name = \"shop\"
version = \"0.1.0\"
edition = \"2024\"
//- /src/lib.rs
pub mod cart;
pub mod till;
//- /src/till.rs
«import»use crate::cart::total;

pub fn due() -> u32 {
«till»    total(&[3])
}
//- /src/cart.rs
/// What a basket comes to.
«def»pub fn total(prices: &[u32]) -> u32 {
    prices.iter().sum()
}

«trait»pub trait Priced {
    fn price(&self) -> u32;
}

«struct»pub struct Apple;

«impl»impl Priced for Apple {
    fn price(&self) -> u32 {
«use»        let émoji = \"😀👩‍💻\"; let _ = émoji; total(&[1, 2])
    }
}

pub fn both() -> u32 {
«use2»    let apple = Apple;
«use3»    total(&[apple.price()])
}
";

pub(crate) const GO: &str = "\
//- /go.mod
module shop

go 1.21
//- /cart/cart.go
package cart

// What a basket comes to.
«def»func Total(prices []int) int {
	sum := 0
	for _, price := range prices {
		sum += price
	}
	return sum
}

«iface»type Priced interface{ Price() int }

«struct»type Apple struct{}

func (Apple) Price() int { return 1 }
//- /main.go
package main

import \"shop/cart\"

func main() {
«use»	println(\"漢字 😀\", cart.Total([]int{1}))
«use2»	apple := cart.Apple{}
«use3»	println(cart.Total(nil), apple.Price())
}
";

pub(crate) const PYTHON: &str = "\
//- /pyproject.toml
[project]
name = \"shop\"
version = \"1\"
//- /cart.py
«def»def total(prices: list[int]) -> int:
    \"\"\"What a basket comes to.\"\"\"
    return sum(prices)


«class»class Apple:
    price = 1
//- /main.py
«import»from cart import Apple, total

«use»print(\"漢字 😀👩‍💻 é\", total([1]))
«use2»apple = Apple()
«use3»print(total([apple.price]))
";

pub(crate) const TYPESCRIPT: &str = "\
//- /tsconfig.json
{ \"compilerOptions\": { \"strict\": true, \"module\": \"esnext\", \"target\": \"esnext\", \"moduleResolution\": \"bundler\" } }
//- /cart.ts
/** What a basket comes to. */
«def»export function total(prices: number[]): number {
  return prices.length;
}

«iface»export interface Priced { price(): number }

«class»export class Apple implements Priced {
  price() { return 1; }
}
//- /main.ts
«import»import { Apple, total } from \"./cart\";

«use»console.log(\"漢字 😀👩‍💻 é\", total([1]));
«use2»const apple = new Apple();
«use3»console.log(total([apple.price()]));
";

pub(crate) const C: &str = "\
//- /compile_commands.json
[{ \"directory\": \"ROOT\", \"file\": \"cart.c\", \"arguments\": [\"cc\", \"-c\", \"cart.c\"] }]
//- /cart.h
// What a basket comes to.
«decl»int total(const int *prices, int count);
//- /cart.c
#include \"cart.h\"

«def»int total(const int *prices, int count) {
  return count ? prices[0] : 0;
}

int both(void) {
  int prices[] = {1, 2};
«use»  const char *word = \"漢字 😀\"; return word[0] + total(prices, 2);
}
";

pub(crate) const DART: &str = "\
//- /pubspec.yaml
name: shop
environment:
  sdk: ^3.0.0
//- /lib/cart.dart
/// What a basket comes to.
«def»int total(List<int> prices) => prices.length;

«iface»abstract class Priced {
  int get price;
}

«class»class Apple implements Priced {
  @override
  int get price => 1;
}
//- /lib/main.dart
import 'cart.dart';

void main() {
«use»  print('漢字 😀👩‍💻 ${total([1])}');
«use2»  final apple = Apple();
«use3»  print(total([apple.price]));
}
";
