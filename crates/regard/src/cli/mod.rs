//! The command line: one file a command.

mod align;
mod audit;
mod audit_rivals;
mod average;
mod bench;
mod cache;
mod corpora;
mod curve;
mod demo;
mod evaluate;
mod evaluate_alignment;
mod export;
mod failure;
mod guide;
mod import;
mod info;
mod input;
mod look;
mod look_args;
mod look_effect;
mod look_gold;
mod look_pictures;
mod model_card;
mod output;
mod pipelines;
mod progress;
mod progress_bar;
mod score;
mod search_args;
#[cfg(feature = "serve")]
mod serve;
mod settings;
mod shortlist;
mod text_options;
mod tokenizer;
mod train;
mod training_run;
mod translate;
mod translate_trace;
mod translate_wishes;
mod validators;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Train encoder-decoder models, translate with them, and see where they look.
#[derive(Parser)]
#[command(name = "regard", version, arg_required_else_help = true)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

// What each does, with an example, is said where its options are.
#[derive(Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Train(train::TrainArgs),
    Translate(translate::TranslateArgs),
    Score(score::ScoreArgs),
    Evaluate(evaluate::EvaluateArgs),
    EvaluateAlignment(evaluate_alignment::EvaluateAlignmentArgs),
    Align(align::AlignArgs),
    Curve(curve::CurveArgs),
    Look(look::LookArgs),
    Audit(audit::AuditArgs),
    Import(import::ImportArgs),
    Export(export::ExportArgs),
    Info(info::InfoArgs),
    Average(average::AverageArgs),
    Shortlist(shortlist::ShortlistArgs),
    #[cfg(feature = "serve")]
    Serve(serve::ServeArgs),
    Tokenizer(tokenizer::TokenizerArgs),
    Bench(bench::BenchArgs),
}

/// Runs the program with these arguments, the first being its name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let program = match Program::try_parse_from(arguments) {
        Ok(program) => program,
        Err(message) => return failure::usage(&message),
    };
    let result = match program.command {
        Command::Demo(args) => demo::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Translate(args) => translate::run(&args),
        Command::Score(args) => score::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::EvaluateAlignment(args) => evaluate_alignment::run(&args),
        Command::Align(args) => align::run(&args),
        Command::Curve(args) => curve::run(&args),
        Command::Look(args) => look::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Average(args) => average::run(&args),
        Command::Shortlist(args) => shortlist::run(&args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args),
        Command::Tokenizer(args) => tokenizer::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}
